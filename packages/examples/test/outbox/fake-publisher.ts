import type { Clock } from "@holdfast/clock";
import type { Message } from "../../src/outbox/message/message.ts";
import type { Publisher } from "../../src/outbox/publish/publisher.ts";
import { numberOf } from "./sample.ts";

/** What becomes of an attempt: it may throw, or wait. */
export type Answer = (message: Message, signal: AbortSignal) => Promise<void> | void;

/** Writes down when which message was sent, and does with it what a test says. */
export class FakePublisher implements Publisher {
  /** The instant from the start on, and the number of the message. */
  readonly sent: [number, number][] = [];
  readonly #clock: Clock;
  readonly #start: number;
  readonly #answer: Answer;
  /** How many are under way, and how many were at most. */
  busy = 0;
  mostBusy = 0;

  constructor(clock: Clock, answer: Answer = () => {}) {
    this.#clock = clock;
    this.#start = clock.monotonic();
    this.#answer = answer;
  }

  async publish(message: Message, signal: AbortSignal): Promise<void> {
    this.sent.push([this.#clock.monotonic() - this.#start, numberOf(message.id)]);
    this.mostBusy = Math.max(this.mostBusy, ++this.busy);
    try {
      await this.#answer(message, signal);
    } finally {
      this.busy--;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
