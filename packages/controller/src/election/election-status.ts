/**
 * Phase of an elector.
 *
 * | State | Meaning |
 * | --- | --- |
 * | `"idle"` | not running, or resting after a term |
 * | `"campaigning"` | waiting to become leader |
 * | `"leading"` | the work runs under the lease |
 * | `"stopping"` | the work was aborted and has not settled yet, or the lease is being released |
 */
export type ElectionState = "idle" | "campaigning" | "leading" | "stopping";

/** State of an elector for a health endpoint. Durations are in milliseconds. */
export interface ElectionStatus {
  /** Phase of the elector. */
  readonly state: ElectionState;

  /** Name of the elector. */
  readonly identity: string;

  /** Identity of the leader in the latest record; undefined if the lease is free. */
  readonly leader: string | undefined;

  /** Token of the term; undefined when no work of a term is running. */
  readonly token: number | undefined;

  /** Time since the last response of the lock; undefined before the first. */
  readonly sinceAnswer: number | undefined;

  /**
   * Time since the work was aborted; 0 if it was not aborted or has settled. The lease is renewed
   * meanwhile, so no other process takes over. If this grows beyond the time that the work needs to
   * finish, restart the process: the work ignores its signal.
   */
  readonly stoppingFor: number;

  /**
   * How long the work has outlived its lease; 0 while the lease is held, also during a stop. Another
   * process may lead. If this grows, restart the process: the work ignores `lost`.
   */
  readonly overdue: number;

  /** Error of the latest request to the lock; undefined if it succeeded. */
  readonly lastError: unknown;
}
