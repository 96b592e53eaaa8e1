import type { Counted, Labels, Measured, MetricSink, Sample } from "@holdfast/kit";
import type { QueueMetrics } from "../queue/work-queue-options.ts";
import { QueueSeries } from "./queue-series.ts";

/**
 * Bounds of client-go in seconds, spelled as in Go, so that `sum by (le)` adds up jobs in Go and in
 * Node. As numbers, 1e-8 would become the label `1e-8`, and 1e-5 the label `0.00001`.
 */
const BUCKETS = "1e-08 1e-07 1e-06 1e-05 0.0001 0.001 0.01 0.1 1 10 100 1000".split(" ");

const LABELS = ["name", "controller"] as const;
type Label = (typeof LABELS)[number];

/** The metrics of all queues. */
export class QueueFamilies {
  readonly #adds: Counted<Label>;
  readonly #retries: Counted<Label>;
  readonly #queueDuration: Measured<Label>;
  readonly #workDuration: Measured<Label>;
  /** The latest queue of each name, until it has ended: a new queue starts from zero. */
  readonly #queues = new Map<string, QueueSeries>();

  constructor(sink: MetricSink) {
    this.#adds = sink.counter({
      labelNames: LABELS,
      name: "workqueue_adds_total",
      help: "Number of adds that the queue has handled",
    });
    this.#retries = sink.counter({
      labelNames: LABELS,
      name: "workqueue_retries_total",
      help: "Number of retries that the queue has handled",
    });
    this.#queueDuration = sink.histogram({
      labelNames: LABELS,
      buckets: BUCKETS,
      name: "workqueue_queue_duration_seconds",
      help: "Seconds that a key stays in the queue before it is taken",
    });
    this.#workDuration = sink.histogram({
      labelNames: LABELS,
      buckets: BUCKETS,
      name: "workqueue_work_duration_seconds",
      help: "Seconds from the moment a key is taken until its work is done",
    });
    this.#readWhenScraped(sink);
  }

  queue(name: string): QueueMetrics {
    const labels = labelsOf(name);
    this.#adds.add(labels, 0);
    this.#retries.add(labels, 0);
    this.#queueDuration.zero(labels);
    this.#workDuration.zero(labels);
    return new QueueSeries({
      added: () => this.#adds.add(labels),
      retried: () => this.#retries.add(labels),
      waited: (seconds) => this.#queueDuration.record(labels, seconds),
      worked: (seconds) => this.#workDuration.record(labels, seconds),
      began: (series) => void this.#queues.set(name, series),
      ended: (series) => {
        if (this.#queues.get(name) === series) this.#queues.delete(name);
      },
    });
  }

  #readWhenScraped(sink: MetricSink): void {
    /** A sample of each queue. */
    const each = (measure: (queue: QueueSeries) => number): Sample<Label>[] =>
      [...this.#queues].map(([name, queue]) => [labelsOf(name), measure(queue)]);
    sink.gauge({
      labelNames: [...LABELS, "priority"],
      name: "workqueue_depth",
      help: "Keys in the queue now, by priority",
      read: () =>
        [...this.#queues].flatMap(([name, { depths }]) =>
          [...depths].map(([priority, depth]) => [{ ...labelsOf(name), priority }, depth] as const),
        ),
    });
    sink.gauge({
      labelNames: LABELS,
      name: "workqueue_unfinished_work_seconds",
      help: "Seconds of work in progress that work_duration has not observed yet, added up. Large values mean stuck workers; the rate of growth is their number",
      read: () => each(({ work }) => work.unfinished / 1_000),
    });
    sink.gauge({
      labelNames: LABELS,
      name: "workqueue_longest_running_processor_seconds",
      help: "Seconds since the start of the work that has been in progress for longest",
      read: () => each(({ work }) => work.longestRunning / 1_000),
    });
  }
}

const labelsOf = (name: string): Labels<Label> => ({ name, controller: name });
