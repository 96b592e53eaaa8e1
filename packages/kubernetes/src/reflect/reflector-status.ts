/** The last error of a reflector. */
export interface ReflectorErrorStatus {
  /** Its message. */
  readonly message: string;
  /** Time of the error on the wall clock: milliseconds since the epoch. */
  readonly at: number;
  /** The request that failed. A request for the current version in front of a watch counts as the watch. */
  readonly phase: "list" | "watch";
}

/** State of a reflector. `"waiting"` is between two requests; `"idle"` is before and after the run. */
export type ReflectorState = "idle" | "listing" | "watching" | "waiting";

/** Status of a list and watch. */
export interface ReflectorStatus {
  /** Its namespace. Undefined if it watches all of them, or objects of cluster scope. */
  readonly namespace: string | undefined;
  /** Its state. */
  readonly state: ReflectorState;
  /** Whether a list has been complete. */
  readonly hasSynced: boolean;
  /** Number of cached objects. */
  readonly size: number;
  /** Number of lists that were asked for. */
  readonly lists: number;
  /** Number of watches that were asked for. */
  readonly watches: number;
  /** Time of the last event on the wall clock: milliseconds since the epoch. Undefined if there was none. */
  readonly lastEventAt: number | undefined;
  /**
   * Milliseconds since the watch was last accepted, or has brought an event or a bookmark. A bookmark comes about
   * once a minute. `null` if no watch was ever accepted: lists and probes do not count. `lastError` is the reason.
   */
  readonly silentFor: number | null;
  /** The last error, if there was one. It stays when a later pass succeeds. */
  readonly lastError: ReflectorErrorStatus | undefined;
}
