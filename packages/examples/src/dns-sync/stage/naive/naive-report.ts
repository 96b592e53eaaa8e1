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
  /** Errors of the informer, after each of which it was started again. */
  readonly errors: number;
  readonly lastError: string | undefined;
}
