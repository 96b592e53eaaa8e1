import { type Counted, type Measured, type MetricSink, SetGauge } from "@holdfast/kit";
import type { Claim } from "../store/claim.ts";
import type { OutboxEvent } from "../task.ts";

/** From 1 ms to 10 s. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The values of the label `outcome`: the types of the events that end a claim. */
const OUTCOMES = [
  "delivered",
  "failed",
  "dead",
  "expired",
  "lost",
  "unwritten",
  "released",
] as const satisfies readonly OutboxEvent["type"][];

/** The metrics that events drive. */
export class EventFamilies {
  readonly #attempts: Counted<"outcome">;
  readonly #topicAttempts: Counted<"topic" | "outcome">;
  readonly #held: SetGauge<"topic" | "reason">;
  /** The topics with a label of their own. */
  readonly #topics = new Set<string>();
  readonly #topicLabels: number;
  readonly #claimed: Counted<never>;
  readonly #claimDuration: Measured<never>;
  readonly #invalid: Counted<never>;
  readonly #removed: Counted<never>;
  readonly #errors: Counted<never>;
  readonly #clock: SetGauge;
  readonly #listening: SetGauge;

  constructor(sink: MetricSink, topicLabels: number) {
    this.#topicLabels = topicLabels;
    this.#attempts = sink.counter({
      labelNames: ["outcome"],
      name: "outbox_attempts_total",
      help: "Number of attempts that have ended, by outcome",
    });
    for (const outcome of OUTCOMES) this.#attempts.add({ outcome }, 0);
    this.#topicAttempts = sink.counter({
      labelNames: ["topic", "outcome"],
      name: "outbox_topic_attempts_total",
      help: "Number of attempts that have ended, by topic and outcome",
    });
    this.#held = new SetGauge(sink, {
      labelNames: ["topic", "reason"],
      name: "outbox_topic_held",
      help: "Whether the relay of this process holds the topic: 1 or 0",
    });
    this.#claimed = sink.counter({
      name: "outbox_claimed_total",
      help: "Number of messages that were claimed",
    });
    this.#claimDuration = sink.histogram({
      buckets: BUCKETS,
      name: "outbox_claim_duration_seconds",
      help: "Seconds that a request for messages took",
    });
    this.#invalid = sink.counter({
      name: "outbox_invalid_rows_total",
      help: "Number of rows that are not messages",
    });
    this.#removed = sink.counter({
      name: "outbox_removed_total",
      help: "Number of delivered messages that were removed",
    });
    this.#errors = sink.counter({
      name: "outbox_store_errors_total",
      help: "Number of requests to the store that have failed",
    });
    this.#clock = new SetGauge(sink, {
      name: "outbox_clock_ahead_seconds",
      help: "Seconds that the clock of this process is ahead of that of the database",
    });
    this.#listening = new SetGauge(sink, {
      name: "outbox_listening",
      help: "Whether the relay hears of messages that other processes save: 1, or 0 if it only polls",
    });
  }

  count(event: OutboxEvent): void {
    switch (event.type) {
      case "claimed":
        this.#claimed.add({}, event.count);
        this.#claimDuration.record({}, event.duration / 1_000);
        break;
      case "invalid":
        this.#invalid.add({});
        break;
      case "removed":
        this.#removed.add({}, event.count);
        break;
      case "clock":
        this.#clock.set({}, event.ahead / 1_000);
        break;
      case "listening":
        this.#listening.set({}, Number(event.isListening));
        break;
      case "opened":
      case "closed":
        this.#hold(event.topic, "open", event.type === "opened");
        break;
      case "paused":
      case "resumed":
        this.#hold(event.topic, "paused", event.type === "paused");
        break;
      case "restricted":
        break; // The gauge of the store tells, at each scrape.
      case "error":
        this.#errors.add({});
        break;
      case "expired":
        // The last expired claim is reported as `dead` too.
        if (event.failure.dueAt !== undefined) this.#ended(event.claim, event.type);
        break;
      default:
        this.#ended(event.claim, event.type);
    }
  }

  #ended({ message }: Claim, outcome: (typeof OUTCOMES)[number]): void {
    this.#attempts.add({ outcome });
    this.#topicAttempts.add({ topic: this.#labelOf(message.topic), outcome });
  }

  /** Topics without a label of their own have no gauge: several share that label. */
  #hold(topic: string, reason: "open" | "paused", isHeld: boolean): void {
    if (this.#labelOf(topic) === topic) this.#held.set({ topic, reason }, Number(isHeld));
  }

  /** Those that come first have one: another one later would end their series. */
  #labelOf(topic: string): string {
    if (this.#topics.size < this.#topicLabels) this.#topics.add(topic);
    return this.#topics.has(topic) ? topic : "(other)";
  }
}
