import type { StatusSource } from "../../web/status-source.ts";
import type { HealthCheck } from "../web/health.ts";
import type { Snapshot } from "../web/snapshot.ts";

/** The work of a program from start to end, and its status. */
export interface Role {
  /** Status for its page. */
  readonly status: StatusSource<Snapshot>;
  /** Checks of `/healthz`. */
  readonly alive: readonly HealthCheck[];
  /** Works until `signal` aborts and everything has ended. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}
