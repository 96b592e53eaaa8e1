import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { QueueMetrics } from "../queue/work-queue-options.ts";
import { QueueSeries } from "./queue-series.ts";

/**
 * Bounds of client-go in seconds, spelled as in Go, so that `sum by (le)` adds up jobs in Go and in
 * Node. As numbers, 1e-8 would become the label `1e-8`, and 1e-5 the label `0.00001`.
 */
const BOUNDS = "1e-08 1e-07 1e-06 1e-05 0.0001 0.001 0.01 0.1 1 10 100 1000".split(" ");

/** prom-client compares by `<=`, which converts the string to a number, and prints the string unchanged. */
const BUCKETS = BOUNDS as unknown[] as number[];

const LABELS = ["name", "controller"] as const;
type Labels = (typeof LABELS)[number];

/** The metrics of all queues of a registry. */
export class QueueFamilies {
  readonly #adds: Counter<Labels>;
  readonly #retries: Counter<Labels>;
  readonly #queueDuration: Histogram<Labels>;
  readonly #workDuration: Histogram<Labels>;
  /** The latest queue of each name, until it has ended: a new queue starts from zero. */
  readonly #queues = new Map<string, QueueSeries>();

  constructor(register: Registry) {
    const common = { labelNames: LABELS, registers: [register] };
    this.#adds = new Counter({
      ...common,
      name: "workqueue_adds_total",
      help: "Number of adds that the queue has handled",
    });
    this.#retries = new Counter({
      ...common,
      name: "workqueue_retries_total",
      help: "Number of retries that the queue has handled",
    });
    this.#queueDuration = new Histogram({
      ...common,
      buckets: BUCKETS,
      name: "workqueue_queue_duration_seconds",
      help: "Seconds that a key stays in the queue before it is taken",
    });
    this.#workDuration = new Histogram({
      ...common,
      buckets: BUCKETS,
      name: "workqueue_work_duration_seconds",
      help: "Seconds from the moment a key is taken until its work is done",
    });
    this.#readWhenScraped(register);
  }

  queue(name: string): QueueMetrics {
    const labels = { name, controller: name };
    this.#adds.inc(labels, 0);
    this.#retries.inc(labels, 0);
    this.#queueDuration.zero(labels);
    this.#workDuration.zero(labels);
    return new QueueSeries({
      added: () => this.#adds.inc(labels),
      retried: () => this.#retries.inc(labels),
      waited: (seconds) => this.#queueDuration.observe(labels, seconds),
      worked: (seconds) => this.#workDuration.observe(labels, seconds),
      began: (series) => void this.#queues.set(name, series),
      ended: (series) => {
        if (this.#queues.get(name) === series) this.#queues.delete(name);
      },
    });
  }

  #readWhenScraped(register: Registry): void {
    const queues = this.#queues;
    const common = { labelNames: LABELS, registers: [register] };
    new Gauge({
      ...common,
      labelNames: [...LABELS, "priority"],
      name: "workqueue_depth",
      help: "Keys in the queue now, by priority",
      collect() {
        this.reset();
        for (const [name, { depths }] of queues)
          for (const [priority, depth] of depths)
            this.set({ name, controller: name, priority }, depth);
      },
    });
    new Gauge({
      ...common,
      name: "workqueue_unfinished_work_seconds",
      help: "Seconds of work in progress that work_duration has not observed yet, added up. Large values mean stuck workers; the rate of growth is their number",
      collect() {
        this.reset();
        for (const [name, { work }] of queues)
          this.set({ name, controller: name }, work.unfinished / 1_000);
      },
    });
    new Gauge({
      ...common,
      name: "workqueue_longest_running_processor_seconds",
      help: "Seconds since the start of the work that has been in progress for longest",
      collect() {
        this.reset();
        for (const [name, { work }] of queues)
          this.set({ name, controller: name }, work.longestRunning / 1_000);
      },
    });
  }
}
