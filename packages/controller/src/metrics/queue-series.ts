import type { QueueMetrics, WorkInFlight } from "../queue/work-queue-options.ts";

/** Counters of one queue within the families of all. Durations are in seconds. */
export interface QueueCounters {
  added(): void;
  retried(): void;
  waited(seconds: number): void;
  worked(seconds: number): void;
  /** The gauges of the series begin and end. */
  began(series: QueueSeries): void;
  ended(series: QueueSeries): void;
}

// The limit of controller-runtime, and its label for priorities beyond it.
const MAX_PRIORITIES = 25;
const OTHER = "exceeded_cardinality_limit";

const NOTHING: WorkInFlight = { unfinished: 0, longestRunning: 0 };

/** Metrics of one queue: counted at once, or collected until the next scrape. */
export class QueueSeries implements QueueMetrics {
  /** Number of waiting keys by the label of their priority. A used label is never removed. */
  readonly #depths = new Map<string, number>();
  readonly #counters: QueueCounters;
  #work: WorkInFlight = NOTHING;

  constructor(counters: QueueCounters) {
    this.#counters = counters;
  }

  /** Ages of the work in flight. */
  get work(): WorkInFlight {
    return this.#work;
  }

  /** By label. Before the first key, priority 0 makes the queue visible, without using up a label. */
  get depths(): Iterable<[label: string, depth: number]> {
    return this.#depths.size === 0 ? [["0", 0]] : this.#depths;
  }

  depth(change: number, priority: number): void {
    let label = String(priority);
    if (!this.#depths.has(label) && this.#depths.size >= MAX_PRIORITIES) label = OTHER;
    this.#depths.set(label, (this.#depths.get(label) ?? 0) + change);
  }

  added(): void {
    this.#counters.added();
  }

  started(queueDuration: number): void {
    this.#counters.waited(queueDuration / 1_000);
  }

  finished(workDuration: number): void {
    this.#counters.worked(workDuration / 1_000);
  }

  retried(): void {
    this.#counters.retried();
  }

  watch(work: WorkInFlight): void {
    this.#work = work;
    this.#counters.began(this);
  }

  ended(): void {
    this.#counters.ended(this);
  }
}
