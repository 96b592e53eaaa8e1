import { anything, findByCode, type Kinds, read } from "@holdfast/kit";

const CODE = "ERR_CONTROLLER_EXPLORATION";

/** The options of {@link ExplorationError}. */
export const EXPLORATION_ERROR_OPTIONS: Kinds<{ only?: string | undefined; cause?: unknown }> = {
  only: anything,
  cause: anything,
};

/**
 * An exploration has found a world that ends in another state, or a program that is wrong without any fault. The
 * message shows the fault, the difference, the steps around the fault, and how to run this world alone.
 */
export class ExplorationError extends Error {
  static {
    // A getter and not a field: the name is not shown as a property of the error.
    Object.defineProperty(ExplorationError.prototype, "name", { value: "ExplorationError" });
  }

  /** Name of the world, for the option `only`. Undefined if the program is wrong without a fault. */
  readonly only: string | undefined;

  /** Stable across versions and copies of this package. */
  readonly code: "ERR_CONTROLLER_EXPLORATION" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_CONTROLLER_EXPLORATION" = CODE;

  /**
   * @param message - the problem, and the steps that lead to it
   * @param options - the `cause`; `only`: the name of the world
   */
  constructor(
    message: string,
    options: { readonly only?: string | undefined; readonly cause?: unknown } = {},
  ) {
    const { only, cause } = read("options", options, "ExplorationError", EXPLORATION_ERROR_OPTIONS);
    super(message, { cause });
    this.only = only;
  }
}

/**
 * Whether an error is an {@link ExplorationError}, of this copy of the package or another, or has one among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 * @returns true if an exploration has found a problem
 *
 * @example
 * ```ts
 * import { ExplorationError, isExplorationError } from "@holdfast/explore";
 *
 * console.log(isExplorationError(new ExplorationError("lost a key")), isExplorationError(new Error("no"))); // => true false
 * ```
 */
export function isExplorationError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}
