import { anything, findByCode, type Kinds, messageOf, read } from "@holdfast/kit";
import { delay } from "../kinds.ts";

export const RUNNABLE_ERROR_OPTIONS: Kinds<RunnableErrorOptions> = {
  cause: anything,
  timeout: delay,
};

/**
 * Problem of a runnable.
 *
 * | Problem | Meaning |
 * | --- | --- |
 * | `"failed"` | it rejected; `cause` is its error |
 * | `"ended"` | it ended before its signal aborted |
 * | `"not ready"` | it was not ready in time, or `ready` rejected with `cause` |
 * | `"not stopped"` | it did not end in time after its signal aborted, and may still run |
 */
export type RunnableProblem = "failed" | "ended" | "not ready" | "not stopped";

/** Options for a {@link RunnableError}. */
export interface RunnableErrorOptions {
  /** Error with which the runnable rejected. The message of this error ends with its message. */
  readonly cause?: unknown;

  /** Time that it exceeded, in milliseconds. */
  readonly timeout?: number;
}

const CODE = "ERR_CONTROLLER_RUNNABLE";

/**
 * A runnable stopped its {@link Manager}, or did not stop with it.
 *
 * @example
 * ```ts
 * import { isRunnableError, RunnableError } from "@holdfast/controller";
 *
 * const error = new RunnableError("web", "not stopped", { timeout: 30_000 });
 * console.log(error.message); // => "web" not stopped within 30000 ms
 * console.log(isRunnableError(error)); // => true
 * ```
 */
export class RunnableError extends Error {
  override readonly name = "RunnableError";
  /** Stable across versions and copies of this package. */
  readonly code: "ERR_CONTROLLER_RUNNABLE" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_CONTROLLER_RUNNABLE" = CODE;
  /** Name of the runnable. */
  readonly runnable: string;
  /** Problem of the runnable. */
  readonly problem: RunnableProblem;

  /**
   * @param runnable - the name of the runnable
   * @param problem - see {@link RunnableProblem}
   * @param options - see {@link RunnableErrorOptions}
   * @throws TypeError if `options` has another type or an unknown option, RangeError if `timeout` is NaN
   */
  constructor(runnable: string, problem: RunnableProblem, options: RunnableErrorOptions = {}) {
    const { timeout, cause } = read("options", options, "RunnableError", RUNNABLE_ERROR_OPTIONS);
    const within = timeout === undefined ? "" : ` within ${timeout} ms`;
    const because = cause === undefined ? "" : `: ${messageOf(cause)}`;
    super(
      `${JSON.stringify(runnable)} ${problem}${within}${because}`,
      cause === undefined ? undefined : { cause },
    );
    this.runnable = runnable;
    this.problem = problem;
  }
}

/**
 * Whether an error is a {@link RunnableError}, of this copy of the package or another, or has
 * one among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 * @returns true if a runnable failed, or did not stop
 *
 * @example
 * ```ts
 * import { isRunnableError } from "@holdfast/controller";
 *
 * console.log(isRunnableError(new Error("no"))); // => false
 * ```
 */
export function isRunnableError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}
