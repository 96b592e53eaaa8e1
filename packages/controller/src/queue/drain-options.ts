/** Options for `WorkQueue.drain`. */
export interface DrainOptions {
  /**
   * Maximum wait in milliseconds. At least 0, which reports at once, or `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly timeout?: number | undefined;

  /**
   * Ends the wait: the promise rejects at once with `signal.reason`. The queue stays shut down.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
}
