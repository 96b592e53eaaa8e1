/**
 * What an elector is doing.
 *
 * | State | |
 * | --- | --- |
 * | `"idle"` | it does not run, or rests after a term that ended by itself |
 * | `"campaigning"` | it waits for its chance to lead |
 * | `"leading"` | it leads |
 * | `"stopping"` | it leads no more; its work has not ended yet, or the lease is being given back |
 */
export type ElectionState = "idle" | "campaigning" | "leading" | "stopping";

/** What a health endpoint wants to know of an elector. Durations are in milliseconds. */
export interface ElectionStatus {
  /** What the elector is doing. */
  readonly state: ElectionState;

  /** The name it goes by. */
  readonly identity: string;

  /** Who leads, as far as it has seen; undefined if nobody. */
  readonly leader: string | undefined;

  /** The token of its term; undefined if it does not lead and none of its work is left. */
  readonly token: number | undefined;

  /** How long ago the lock last answered; undefined if it never did. */
  readonly sinceAnswer: number | undefined;

  /**
   * For how long its work has gone on though its lease is over, so that somebody else may lead. If
   * this grows, restart the process: the work does not obey its signal.
   */
  readonly overdue: number;

  /** What the latest request to the lock failed with; undefined if it did not. */
  readonly lastError: unknown;
}
