import { findByCode } from "@holdfast/kit";
import type { Fence } from "./outbox-store.ts";

const CODE = "ERR_OUTBOX_STALE_FENCE";

/** Another holder has written with a newer token: this one must stop. */
export class StaleFenceError extends Error {
  override readonly name = "StaleFenceError";

  /** Stable across versions and copies of this package. */
  readonly code: "ERR_OUTBOX_STALE_FENCE" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_OUTBOX_STALE_FENCE" = CODE;

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
  return findByCode(error, CODE) !== undefined;
}
