import { findByCode } from "@holdfast/kit";
import type { Fence } from "./outbox-store.ts";

const CODE = "ERR_OUTBOX_STALE_FENCE";

/** Another holder has written with a newer token: this one must stop. */
export class StaleFenceError extends Error {
  override readonly name = "StaleFenceError";

  /** Stable across versions and copies of this package. */
  readonly code: "ERR_OUTBOX_STALE_FENCE" = CODE;

  /** The fence that refused the write, with the old token. */
  readonly fence: Fence;

  /** @param fence - the fence, with the token that is too old */
  constructor(fence: Fence) {
    super(`token ${fence.token} of the fence "${fence.name}" is not the newest`);
    this.fence = fence;
  }
}

/**
 * Whether an error is a {@link StaleFenceError}, of this copy of the package or another, or has one among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 */
export function isStaleFenceError(error: unknown): boolean {
  return findStaleFenceError(error) !== undefined;
}

/**
 * The first {@link StaleFenceError} among an error and its causes, of this copy of the package or another.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 * @returns the error, with its fields; undefined if there is none
 *
 * @example
 * ```ts
 * import { findStaleFenceError, StaleFenceError } from "@holdfast/outbox";
 *
 * const caught: unknown = new Error("no luck", { cause: new StaleFenceError({ name: "relay", token: 7 }) });
 * console.log(findStaleFenceError(caught)?.fence.token); // => 7
 * ```
 */
export function findStaleFenceError(error: unknown): StaleFenceError | undefined {
  return findByCode<StaleFenceError>(error, CODE);
}
