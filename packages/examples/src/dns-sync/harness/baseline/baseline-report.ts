import type { ApiAccess } from "../api/harness-api.ts";

/** Argument of the baseline process. */
export interface BaselineOptions {
  readonly access: ApiAccess;
  readonly namespace: string;
  readonly providerUrl: string;
}

/** Periodic message of the baseline process. */
export interface BaselineReport {
  /** Events received by its informer. */
  readonly events: number;
  /** Highest resource version received. */
  readonly version: number;
  /** Handlers that gave up. */
  readonly failures: number;
  /** Handlers in progress. */
  readonly running: number;
  /** Errors of the informer. */
  readonly errors: number;
  /** Empty before the first error. */
  readonly lastError: string;
}
