import type { ApiAccess } from "../api/stage-api.ts";

/** Argument of the naive process. */
export interface NaiveOptions {
  readonly access: ApiAccess;
  readonly namespace: string;
  readonly providerUrl: string;
}

/** What the naive process tells. */
export interface NaiveReport {
  /** Events of its informer. */
  readonly events: number;
  /** Highest version of an event. */
  readonly version: number;
  /** Handlers that gave up. */
  readonly failures: number;
  /** Handlers under way. */
  readonly running: number;
  /** Errors of the informer. */
  readonly errors: number;
  /** Empty if there was none. */
  readonly lastError: string;
}
