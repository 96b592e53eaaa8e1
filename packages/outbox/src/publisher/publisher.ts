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
}
