import { type Clock, realClock } from "@holdfast/clock";
import {
  type Kinds,
  loopClock,
  type MetricSink,
  methods,
  positive,
  required,
  whole,
} from "@holdfast/kit";
import type { OutboxStore } from "../store/outbox-store.ts";
import type { OutboxEvent } from "../task.ts";
import { EventFamilies } from "./event-families.ts";
import { storeGauges } from "./store-gauges.ts";

export const MEASURED_OUTBOX_OPTIONS: Kinds<MeasuredOutboxOptions> = {
  store: required(methods("backlog", "nextDue")),
  topicLabels: whole(0),
  storeTimeout: positive,
  clock: loopClock,
};

/** Options for {@link MeasuredOutbox}. */
export interface MeasuredOutboxOptions {
  /** The store that each scrape reads. */
  readonly store: Pick<
    OutboxStore<never>,
    "backlog" | "nextDue" | "oldest" | "pausedTopics" | "restriction"
  >;

  /**
   * The number of topics with a label of their own: those with the first events. All others share the label `(other)`.
   * Whole, at least 0, or `Infinity`.
   *
   * @defaultValue `20`
   */
  readonly topicLabels?: number | undefined;

  /**
   * Maximum time of the store to respond to a scrape, in milliseconds. Above 0, finite. Keep it below the
   * timeout of the scrape, which is 10 s in Prometheus by default.
   *
   * @defaultValue `5_000`
   */
  readonly storeTimeout?: number | undefined;

  /**
   * Measures the timeout, and the age of messages.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

/**
 * The metrics of an outbox, wherever they go: `OutboxMetrics` has them in a registry of prom-client,
 * `OpenTelemetryOutboxMetrics` in a meter of OpenTelemetry. Pass its `onEvent` to the relay, the recovery and the
 * retention of the process.
 *
 * | Metric | Type | Labels | |
 * | --- | --- | --- | --- |
 * | `outbox_messages` | gauge | `status` | messages that are `pending`, `retrying` or `dead` |
 * | `outbox_oldest_due_age_seconds` | gauge | | how long the oldest due message has waited, without those of paused topics; 0 if none is due |
 * | `outbox_oldest_age_seconds` | gauge | | how long ago the oldest message that is neither delivered nor dead was saved; 0 without one |
 * | `outbox_store_up` | gauge | | 1 if the store responded to this scrape, else 0 |
 * | `outbox_restricted` | gauge | | 1 if row level security may hide messages from the store, whose other gauges may be too low; on PostgreSQL |
 * | `outbox_attempts_total` | counter | `outcome` | attempts that have ended |
 * | `outbox_topic_attempts_total` | counter | `topic`, `outcome` | the same, by topic |
 * | `outbox_topic_held` | gauge | `topic`, `reason` | 1 while the relay of this process holds the topic: `paused`, or `open` for its breaker; else 0 |
 * | `outbox_claimed_total` | counter | | messages that were claimed |
 * | `outbox_claim_duration_seconds` | histogram | | how long a request for messages took |
 * | `outbox_invalid_rows_total` | counter | | rows that are not messages |
 * | `outbox_removed_total` | counter | | delivered messages that the retention removed |
 * | `outbox_clock_ahead_seconds` | gauge | | how far the clock of this process is ahead of that of the database; once a relay has measured it |
 * | `outbox_listening` | gauge | | 1 if the relay of this process hears of messages that others save, 0 if it finds them by its `pollInterval` only; once a relay has tried to listen |
 * | `outbox_store_errors_total` | counter | | requests to the store that have failed |
 *
 * `outcome` is the type of the {@link OutboxEvent}, each attempt under one of them: `delivered`, `failed`,
 * `dead`, `expired` (its relay died), `lost`, `unwritten`, or `released` (not begun in time, or cut short by
 * a stop). Ids and keys are never labels, and topics are at most `topicLabels` and one.
 *
 * The first five gauges are read from the store at each scrape, in one reading, and are the same in every
 * process: aggregate them with `max`, the counters with `sum`. When the store fails or takes longer than
 * `storeTimeout`, `outbox_store_up` is 0, the others have no sample, and all other metrics are scraped
 * as usual.
 */
export abstract class MeasuredOutbox {
  /** Counts an event: the option `onEvent` of relays, recoveries and retentions. */
  readonly onEvent: (event: OutboxEvent) => void;

  /** @internal */
  constructor(sink: MetricSink, options: MeasuredOutboxOptions) {
    const { store, topicLabels = 20, storeTimeout = 5_000, clock = realClock } = options;
    storeGauges(sink, { store, storeTimeout, clock });
    const families = new EventFamilies(sink, topicLabels);
    this.onEvent = (event) => families.count(event);
  }
}
