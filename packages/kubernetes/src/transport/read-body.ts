import type { Clock } from "@holdfast/clock";
import { findByCode } from "@holdfast/kit";
import { readUpTo } from "@holdfast/kit/node";
import { withTimeout } from "@holdfast/wait";
import { timeLeft } from "@holdfast/wait/limit";

const CODE = "ERR_KUBERNETES_BODY_TOO_LONG";

/** A response is longer than allowed: 64 MiB, or 16 MiB for one event of a watch. */
export class BodyTooLongError extends Error {
  /** Always `"BodyTooLongError"`. */
  override readonly name = "BodyTooLongError";

  /** Stable across versions and copies of this package. */
  readonly code: "ERR_KUBERNETES_BODY_TOO_LONG" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_KUBERNETES_BODY_TOO_LONG" = CODE;
}

/** The part of a `Buffer` that its readers use: published types need none of Node's. */
interface Bytes extends Uint8Array {
  toString(encoding?: string): string;
}

/**
 * Reads a body to its end.
 *
 * @param name - the request, for the error
 * @throws BodyTooLongError if it has more than `limit` bytes; the connection is closed then
 */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  limit: number,
  name: string,
): Promise<Bytes> {
  const read = await readUpTo(body, limit);
  if (read === undefined)
    throw new BodyTooLongError(`${name}: the response has more than ${limit} bytes`);
  return read;
}

/** Longest time to read the body of a failed request, in milliseconds. */
const MAX_TIME = 500;

/** Limits of {@link readStart}. */
export interface ReadLimits {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The signal of the wait for the response, if it ends before that of the request. */
  readonly waiting?: AbortSignal | undefined;
}

/**
 * Reads at most the first `limit` bytes of the body of a failed request, for at most half a second and half of the time that
 * is left, and closes the connection if there is more. A body that stalls must not hide the status.
 *
 * @returns the bytes; undefined if the body stalls or breaks. Rejects with `signal.reason` after an abort
 */
export async function readStart(
  body: AsyncIterable<Uint8Array>,
  limit: number,
  { clock, signal, waiting = signal }: ReadLimits,
): Promise<Bytes | undefined> {
  const iterator = body[Symbol.asyncIterator]();
  const read = async (): Promise<Bytes> => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    while (size < limit) {
      const { done, value } = await iterator.next();
      if (done) break;
      chunks.push(value);
      size += value.length;
    }
    return Buffer.concat(chunks).subarray(0, limit);
  };
  try {
    const time = Math.min(MAX_TIME, timeLeft(waiting) / 2);
    return await withTimeout(read, time, { clock, signal, label: "failure" });
  } catch {
    signal.throwIfAborted();
    return undefined;
  } finally {
    iterator.return?.().catch(() => {}); // nothing depends on it, and a body that stalls may keep it waiting
  }
}

/**
 * Whether an error is a {@link BodyTooLongError}, of this copy of the package or another, or has one among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 * @returns true if a response was longer than allowed
 *
 * @example
 * ```ts
 * import { BodyTooLongError, isBodyTooLongError } from "@holdfast/kubernetes";
 *
 * console.log(isBodyTooLongError(new BodyTooLongError("GET /api: too long")), isBodyTooLongError(new Error("no"))); // => true false
 * ```
 */
export function isBodyTooLongError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}
