import type { Fence } from "./outbox-store.ts";

const CODE = "ERR_OUTBOX_STALE_FENCE";

/** Somebody else has written with a newer token meanwhile: who has this one must stop. */
export class StaleFenceError extends Error {
  override readonly name = "StaleFenceError";
  /** Stable across versions and copies of this code. */
  readonly code: typeof CODE = CODE;
  readonly fence: Fence;

  constructor(fence: Fence) {
    super(`token ${fence.token} of ${fence.name} is not the newest`);
    this.fence = fence;
  }
}

/** Whether a value is a {@link StaleFenceError}, of this copy of the code or another. */
export function isStaleFenceError(value: unknown): value is StaleFenceError {
  return value instanceof Error && (value as Partial<StaleFenceError>).code === CODE;
}
