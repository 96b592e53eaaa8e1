import { type OptionNames, requireOptions } from "@holdfast/kit";
import type { Random } from "@holdfast/wait";
import { type ApiTargetOptions, apiTarget, type MeasuredTarget } from "./api-target.ts";
import { requireFieldManager } from "./call-options.ts";
import type { ClientWrite } from "./client-write.ts";

const OPTIONS: OptionNames<KubeClientOptions> = {
  fieldManager: true,
  random: true,
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
   * Draws the jitter of the delays: after a 429, a 503 and a conflict.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/** What other parts of this package hang on the writes of a client. */
export interface WriteHooks {
  /** Called before each request that writes. An error that it throws rejects the call; nothing is sent. */
  readonly beforeWrite?: (() => void) | undefined;

  /** Receives every write that the server has responded to, before the call resolves. */
  readonly onWrite?: ((write: ClientWrite) => void) | undefined;
}

/** The options with their defaults. */
export interface ResolvedClient {
  readonly target: MeasuredTarget;
  readonly fieldManager: string;
  readonly onWrite: WriteHooks["onWrite"];
}

/** @throws RangeError or TypeError that names the option */
export function resolveClient(options: KubeClientOptions, hooks: WriteHooks): ResolvedClient {
  requireOptions("options", options, "KubeClient", OPTIONS);
  const { fieldManager = "holdfast" } = options;
  const target = { ...apiTarget(options), beforeWrite: hooks.beforeWrite };
  requireFieldManager(fieldManager);
  return { target, fieldManager, onWrite: hooks.onWrite };
}
