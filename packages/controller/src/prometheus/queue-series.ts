import type { QueueMetrics, WorkInFlight } from "../queue/queue-metrics.ts";

/** What one queue adds to the metrics of all. Durations are in seconds. */
export interface QueueCounters {
  added(): void;
  retried(): void;
  waited(seconds: number): void;
  worked(seconds: number): void;
}

// controller-runtime's limit, and its label for what is beyond.
const MAX_PRIORITIES = 25;
const OTHER = "exceeded_cardinality_limit";

/** What one queue reports: counted when it happens, or kept until somebody reads it. */
export class QueueSeries implements QueueMetrics {
  /** How many keys wait, by the label of their priority. A label that is here stays. */
  readonly depths: Map<string, number> = new Map([["0", 0]]);
  readonly #counters: QueueCounters;
  readonly #watched: (series: QueueSeries, work: WorkInFlight) => void;

  constructor(counters: QueueCounters, watched: (series: QueueSeries, work: WorkInFlight) => void) {
    this.#counters = counters;
    this.#watched = watched;
  }

  depth(change: number, priority: number): void {
    let label = String(priority);
    if (!this.depths.has(label) && this.depths.size >= MAX_PRIORITIES) label = OTHER;
    this.depths.set(label, (this.depths.get(label) ?? 0) + change);
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
    this.#watched(this, work);
  }
}
