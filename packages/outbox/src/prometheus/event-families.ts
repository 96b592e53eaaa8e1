import { Counter, Gauge, Histogram, type Registry } from "prom-client";
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
  readonly #attempts: Counter<"outcome">;
  readonly #topicAttempts: Counter<"topic" | "outcome">;
  readonly #held: Gauge<"topic" | "reason">;
  /** The topics with a label of their own. */
  readonly #topics = new Set<string>();
  readonly #topicLabels: number;
  readonly #claimed: Counter;
  readonly #claimDuration: Histogram;
  readonly #invalid: Counter;
  readonly #removed: Counter;
  readonly #errors: Counter;
  readonly #register: Registry;
  /** Made with its first value: a 0 would be a measurement. */
  #clock: Gauge | undefined;
  #listening: Gauge | undefined;

  constructor(register: Registry, topicLabels: number) {
    this.#register = register;
    this.#topicLabels = topicLabels;
    const registers = [register];
    this.#attempts = new Counter({
      registers,
      labelNames: ["outcome"],
      name: "outbox_attempts_total",
      help: "Number of attempts that have ended, by outcome",
    });
    for (const outcome of OUTCOMES) this.#attempts.inc({ outcome }, 0);
    this.#topicAttempts = new Counter({
      registers,
      labelNames: ["topic", "outcome"],
      name: "outbox_topic_attempts_total",
      help: "Number of attempts that have ended, by topic and outcome",
    });
    this.#held = new Gauge({
      registers,
      labelNames: ["topic", "reason"],
      name: "outbox_topic_held",
      help: "Whether the relay of this process holds the topic: 1 or 0",
    });
    this.#claimed = new Counter({
      registers,
      name: "outbox_claimed_total",
      help: "Number of messages that were claimed",
    });
    this.#claimDuration = new Histogram({
      registers,
      buckets: BUCKETS,
      name: "outbox_claim_duration_seconds",
      help: "Seconds that a request for messages took",
    });
    this.#invalid = new Counter({
      registers,
      name: "outbox_invalid_rows_total",
      help: "Number of rows that are not messages",
    });
    this.#removed = new Counter({
      registers,
      name: "outbox_removed_total",
      help: "Number of delivered messages that were removed",
    });
    this.#errors = new Counter({
      registers,
      name: "outbox_store_errors_total",
      help: "Number of requests to the store that have failed",
    });
  }

  count(event: OutboxEvent): void {
    switch (event.type) {
      case "claimed":
        this.#claimed.inc(event.count);
        this.#claimDuration.observe(event.duration / 1_000);
        break;
      case "invalid":
        this.#invalid.inc();
        break;
      case "removed":
        this.#removed.inc(event.count);
        break;
      case "clock":
        this.#clock ??= new Gauge({
          registers: [this.#register],
          name: "outbox_clock_ahead_seconds",
          help: "Seconds that the clock of this process is ahead of that of the database",
        });
        this.#clock.set(event.ahead / 1_000);
        break;
      case "listening":
        this.#listening ??= new Gauge({
          registers: [this.#register],
          name: "outbox_listening",
          help: "Whether the relay hears of messages that other processes save: 1, or 0 if it only polls",
        });
        this.#listening.set(Number(event.isListening));
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
        this.#errors.inc();
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
    this.#attempts.inc({ outcome });
    this.#topicAttempts.inc({ topic: this.#labelOf(message.topic), outcome });
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
