import { type OptionNames, requireFunction, requireOptions } from "@holdfast/clock/internal";
import type { Random } from "@holdfast/wait";
import { type ApiTargetOptions, apiTarget, type MeasuredTarget } from "./api-target.ts";
import { requireFieldManager } from "./call-options.ts";
import type { ClientWrite } from "./client-write.ts";

const OPTIONS: OptionNames<KubeClientOptions> = {
  fieldManager: true,
  random: true,
  onWrite: true,
  beforeWrite: true,
  transport: true,
  clock: true,
  logger: true,
  metrics: true,
};

/** Options for `KubeClient`. */
export interface KubeClientOptions extends ApiTargetOptions {
  /**
   * Name under which the server notes the fields that this client writes. At most 128 characters.
   *
   * @defaultValue `"holdfast"`
   */
  readonly fieldManager?: string | undefined;

  /**
   * Draws the jitter of the delays after a conflict.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;

  /**
   * Receives every write that the server has responded to, before the call resolves.
   *
   * @internal
   */
  readonly onWrite?: ((write: ClientWrite) => void) | undefined;

  /**
   * Called before each request that writes. An error that it throws rejects the call; nothing is sent.
   *
   * @internal
   */
  readonly beforeWrite?: (() => void) | undefined;
}

/** The options with their defaults. */
export interface ResolvedClient {
  readonly target: MeasuredTarget;
  readonly fieldManager: string;
  readonly random: Random | undefined;
  readonly onWrite: ((write: ClientWrite) => void) | undefined;
}

/** @throws RangeError or TypeError that names the option */
export function resolveClient(options: KubeClientOptions): ResolvedClient {
  requireOptions("options", options, "KubeClient", OPTIONS);
  const { fieldManager = "holdfast", random, onWrite, beforeWrite } = options;
  const target = { ...apiTarget(options), beforeWrite };
  requireFieldManager(fieldManager);
  if (random !== undefined) requireFunction("options.random", random);
  if (onWrite !== undefined) requireFunction("options.onWrite", onWrite);
  if (beforeWrite !== undefined) requireFunction("options.beforeWrite", beforeWrite);
  return { target, fieldManager, random, onWrite };
}
