import { RetryAfterError } from "./retry-after-error.ts";
import { isTerminalError } from "./terminal-error.ts";

/**
 * The error of an attempt that had timed out, if it says whether another attempt makes sense, or when: a terminal error,
 * or one that names a time. Pass it where the late result of an attempt goes.
 */
export class LateVerdict {
  #verdict: { readonly error: unknown } | undefined;

  readonly error = (error: unknown): void => {
    if (isTerminalError(error) || RetryAfterError.delayOf(error) !== undefined)
      this.#verdict ??= { error };
  };

  /** The first such error since the last call; undefined if there is none. */
  take(): { readonly error: unknown } | undefined {
    const verdict = this.#verdict;
    this.#verdict = undefined;
    return verdict;
  }
}
