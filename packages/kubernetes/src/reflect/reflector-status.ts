/** The last error of a reflector. */
export interface ReflectorErrorStatus {
  /** Its message. */
  readonly message: string;
  /** Time of the error on the wall clock: milliseconds since the epoch. */
  readonly at: number;
  /**
   * The request that failed, or `"object"` if a function of the user threw for one object. A request for the current
   * version in front of a watch counts as the watch.
   */
  readonly phase: "list" | "watch" | "object";
}

/** Status of a list and watch. */
export interface ReflectorStatus {
  /** Its namespace. Undefined if it watches all of them, or objects of cluster scope. */
  readonly namespace: string | undefined;
  /** Its state. `"waiting"` is between two requests; `"idle"` is before and after the run. */
  readonly state: "idle" | "listing" | "watching" | "waiting";
  /** Whether a list has been complete. */
  readonly hasSynced: boolean;
  /** Number of cached objects. */
  readonly size: number;
  /**
   * Number of objects for which `transform` or an index function throws. A rejected object is missing in that
   * index; without its transform it is not cached, or keeps its last state.
   */
  readonly rejected: number;
  /** Number of lists that were asked for. */
  readonly lists: number;
  /** Number of watches that were asked for. */
  readonly watches: number;
  /** Time of the last event on the wall clock: milliseconds since the epoch. Undefined if there was none. */
  readonly lastEventAt: number | undefined;
  /**
   * Milliseconds since the last event, bookmark or timely end of a watch, or the last complete list. Each comes within
   * about `idleTimeout`, also while nothing happens; after 10 minutes of silence the informer lists. Undefined before the
   * first complete list: `lastError` is the reason.
   */
  readonly silentFor: number | undefined;
  /**
   * Whether the server refuses to list the objects, by 403 or 404: the right is gone, or the kind is. Cached objects stay.
   */
  readonly isRefused: boolean;
  /** The last error, if there was one. It stays when a later request succeeds. */
  readonly lastError: ReflectorErrorStatus | undefined;
}
