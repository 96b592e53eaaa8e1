/**
 * A part of a program that runs until it is told to stop: a controller, an elector, a server.
 *
 * A `Controller` is one as it is. Of anything else, this is what it takes.
 */
export interface Runnable {
  /** What it is called in errors, logs and the status. */
  readonly name: string;

  /**
   * Runs until `signal` aborts and then ends as soon as it has cleaned up.
   *
   * To end is to resolve, or to reject with `signal.reason` or an `AbortError`. Any other error, and
   * ending before `signal` aborts, stops the program.
   */
  run(signal: AbortSignal): Promise<void>;

  /**
   * Resolves when those that build on this one may start; called right after {@link Runnable.run}. A
   * rejection stops the program.
   *
   * Without it, others may start at once.
   */
  ready?(signal: AbortSignal): Promise<void>;
}
