import type { StatusSource } from "../../web/status-source.ts";
import type { HealthCheck } from "../web/health.ts";
import type { Snapshot } from "../web/snapshot.ts";

/** What a program does from start to end, and how others see it. */
export interface Role {
  /** What its page shows. */
  readonly status: StatusSource<Snapshot>;
  /** What `/healthz` asks. */
  readonly alive: readonly HealthCheck[];
  /** Works until `signal` aborts and everything has ended. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}
