import type { RunOptions } from "../run-options.ts";

/**
 * Part of a program that runs until its signal aborts: a controller, an elector, a server.
 *
 * A `Controller` and a `LeaderElector` are runnables as they are.
 */
export interface Runnable {
  /** Name in errors, logs and the status. */
  readonly name: string;

  /**
   * Time that the runnable asks for to stop, in milliseconds. At least 0, or `Infinity`. Read when its group stops,
   * unless the group has a `stopTimeout` of its own. It gets less if all groups ask for more than the manager has.
   *
   * @defaultValue a share of the manager's `stopTimeout`
   */
  readonly stopTimeout?: number | undefined;

  /**
   * Runs until `signal` aborts, then cleans up and ends.
   *
   * Ending means resolving, or rejecting with `signal.reason` or an `AbortError`. Any other error stops
   * the program, and so does ending before `signal` aborts.
   *
   * @param signal - aborts when the runnable must end
   * @param options - those of {@link Manager.run}, and `stopWithin`: the time that it has to stop
   */
  run(signal: AbortSignal, options?: RunOptions): Promise<void>;

  /**
   * Resolves when the groups that start later may start. Called right after {@link Runnable.run}. A
   * rejection stops the program.
   *
   * Without it, the runnable is ready at once.
   */
  ready?(signal: AbortSignal): Promise<void>;
}
