import type { Message, Publisher } from "@holdfast/outbox";
import type { Reach } from "./crash-point.ts";

/** A publisher whose process may die before it sends, or before it can tell that it has. */
export class CrashingPublisher implements Publisher {
  readonly #publisher: Publisher;
  readonly #reach: Reach;

  constructor(publisher: Publisher, reach: Reach) {
    this.#publisher = publisher;
    this.#reach = reach;
  }

  async publish(message: Message, signal: AbortSignal): Promise<void> {
    this.#reach("before-publish");
    await this.#publisher.publish(message, signal);
    this.#reach("after-publish");
  }
}
