import type { Clock } from "@holdfast/clock";
import { withTimeout } from "@holdfast/wait";
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

/** Options for {@link publishAll}. Durations are in milliseconds. */
export interface PublishOptions {
  readonly publisher: Publisher;
  readonly publishTimeout: number;
  readonly clock: Clock;
}

/**
 * Sends messages in one call. Without `publishMany` there is at most one.
 *
 * @returns the outcome of each; it never rejects
 */
export async function publishAll(
  messages: readonly Message[],
  { publisher, publishTimeout, clock }: PublishOptions,
  signal: AbortSignal,
): Promise<readonly PromiseSettledResult<unknown>[]> {
  const [first] = messages;
  if (first === undefined) return [];
  const send = async (own: AbortSignal): Promise<readonly PromiseSettledResult<unknown>[]> => {
    if (publisher.publishMany === undefined)
      return [{ status: "fulfilled", value: await publisher.publish(first, own) }];
    const outcomes: unknown = await publisher.publishMany(messages, own);
    if (areOutcomes(outcomes) && outcomes.length === messages.length) return outcomes;
    throw new TypeError(
      `publisher.publishMany must resolve with ${messages.length} outcomes as Promise.allSettled gives them, got ${Array.isArray(outcomes) ? `${outcomes.length} values` : typeof outcomes}`,
    );
  };
  try {
    return await withTimeout(send, publishTimeout, { clock, signal, label: "publish" });
  } catch (reason) {
    return messages.map(() => ({ status: "rejected", reason }));
  }
}

function areOutcomes(values: unknown): values is readonly PromiseSettledResult<unknown>[] {
  const statuses: unknown[] = ["fulfilled", "rejected"];
  return Array.isArray(values) && values.every((each) => statuses.includes(each?.status));
}
