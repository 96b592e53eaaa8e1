import { hasCode } from "./has-code.ts";

/** The facts of a {@link TerminalError}. */
export interface TerminalErrorOptions {
  /** What is behind it. */
  readonly cause?: unknown;
}

const CODE = "ERR_CONTROLLER_TERMINAL";

/**
 * Thrown by a reconciler that would only fail again: the key is not retried, and its failures are
 * forgotten.
 *
 * Only the thrown error itself counts, not its `cause` and not the errors of an `AggregateError`.
 *
 * @example
 * ```ts
 * import { isTerminalError, TerminalError } from "@holdfast/controller";
 *
 * const error = new TerminalError("no such image", { cause: new Error("404") });
 * console.log(isTerminalError(error), `${error}`); // => true TerminalError: no such image
 * ```
 */
export class TerminalError extends Error {
  /** Always `"TerminalError"`. */
  override readonly name = "TerminalError";
  /** Stable across versions and copies of this package. */
  readonly code: typeof CODE = CODE;

  /**
   * @param message - what is wrong
   * @param options - see {@link TerminalErrorOptions}
   */
  constructor(message: string, options?: TerminalErrorOptions) {
    super(message, options);
  }
}

/**
 * Whether a value is a {@link TerminalError}, of this copy of the package or another.
 *
 * @param value - anything
 * @returns true if it is an error with the code of a terminal one
 *
 * @example
 * ```ts
 * import { isTerminalError } from "@holdfast/controller";
 *
 * console.log(isTerminalError(new Error("try again"))); // => false
 * ```
 */
export function isTerminalError(value: unknown): value is TerminalError {
  return hasCode(value, CODE);
}
