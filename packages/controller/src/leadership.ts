/** Facts and signals of one term, for the work of a leader. */
export interface Leadership {
  /**
   * Fencing token: larger than the token of every earlier term of any leader. Send it with each write
   * to a store that rejects smaller tokens. That protects against a paused process that does not yet
   * know that its term is over. The first token is 0.
   */
  readonly token: number;

  /**
   * Aborts when the term ends in any way: the run is stopped, the leader resigns, the lease is lost, or
   * `lead` settles. Begin nothing new and finish. The lease is renewed until `lead` settles.
   */
  readonly signal: AbortSignal;

  /**
   * Aborts when the lease is lost, with a {@link LeadershipLostError} as its reason, also after
   * `signal` has aborted. Another process leads as soon as the lease expires: drop all work at once.
   *
   * It never aborts if the term ends without a loss.
   */
  readonly lost: AbortSignal;

  /**
   * Whether the lease is held now, by the clock: also right in a process that stood still and on a machine that was
   * suspended, before its timers fire.
   * If the lease is over, `lost` aborts before the value is returned. A `Controller` that runs with the leadership asks
   * before each reconcile; ask before each write of your own. Pass the leadership itself on: a copy by `{ ...leadership }` has no
   * `isHeld`, and `run` refuses it.
   */
  readonly isHeld: boolean;
}
