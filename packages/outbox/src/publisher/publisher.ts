import type { Message } from "../message/message.ts";

/** Hands messages to a receiver: a broker or a webhook. */
export interface Publisher {
  /**
   * Sends a message and waits until the receiver has confirmed it.
   *
   * @param signal - ends the wait at once: it rejects with `signal.reason`. The message may have
   * arrived all the same
   * @returns a promise that rejects if it is to be tried again: with a `RetryAfterError` at a time that
   * the other side named, with a `TerminalError` never
   */
  publish(message: Message, signal: AbortSignal): Promise<void>;

  /**
   * Sends several messages of one topic in one request. Optional: with it a relay makes no call of `publish`, not even for
   * one message. No two messages have the same key if the order is `"key"`.
   *
   * @param messages - 1 to `batchSize` of them, the earliest first
   * @param signal - as for `publish`
   * @returns the outcome of each message, in the same order, as `Promise.allSettled` gives it. A `reason` is what
   * `publish` would reject with. If the promise rejects, the attempt of each message has failed
   */
  publishMany?(
    messages: readonly Message[],
    signal: AbortSignal,
  ): Promise<readonly PromiseSettledResult<unknown>[]>;
}

/**
 * Sends messages in one call. Without `publishMany` there is one message.
 *
 * @returns the outcome of each
 * @throws TypeError if `publishMany` resolves with anything else
 */
export async function publishAll(
  publisher: Publisher,
  messages: readonly Message[],
  signal: AbortSignal,
): Promise<readonly PromiseSettledResult<unknown>[]> {
  if (publisher.publishMany === undefined) {
    for (const message of messages) await publisher.publish(message, signal);
    return messages.map(() => ({ status: "fulfilled", value: undefined }));
  }
  const outcomes: unknown = await publisher.publishMany(messages, signal);
  if (areOutcomes(outcomes) && outcomes.length === messages.length) return outcomes;
  throw new TypeError(
    `publisher.publishMany must resolve with ${messages.length} outcomes as Promise.allSettled gives them, got ${Array.isArray(outcomes) ? `${outcomes.length} values` : typeof outcomes}`,
  );
}

function areOutcomes(values: unknown): values is readonly PromiseSettledResult<unknown>[] {
  const statuses: unknown[] = ["fulfilled", "rejected"];
  return Array.isArray(values) && values.every((each) => statuses.includes(each?.status));
}
