import { func, type Kinds, read } from "@holdfast/kit";
import type { Random } from "@holdfast/wait";
import {
  API_TARGET_OPTIONS,
  type ApiTargetOptions,
  apiTarget,
  type MeasuredTarget,
} from "./api-target.ts";
import { fieldManager } from "./call-options.ts";
import type { ClientWrite } from "./client-write.ts";

export const KUBE_CLIENT_OPTIONS: Kinds<KubeClientOptions> = {
  fieldManager,
  random: func,
  ...API_TARGET_OPTIONS,
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
  const given = read("options", options, "KubeClient", KUBE_CLIENT_OPTIONS);
  const { fieldManager: manager = "holdfast" } = given;
  const target = { ...apiTarget(given), beforeWrite: hooks.beforeWrite };
  return { target, fieldManager: manager, onWrite: hooks.onWrite };
}
