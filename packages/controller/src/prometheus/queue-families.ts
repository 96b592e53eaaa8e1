import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { QueueMetrics, WorkInFlight } from "../queue/queue-metrics.ts";
import { QueueSeries } from "./queue-series.ts";

/** From ten nanoseconds to a thousand seconds, as client-go has them. */
const BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 1, 10, 100, 1_000];

const LABELS = ["name", "controller"] as const;
type Labels = (typeof LABELS)[number];

/** The metrics of all queues of a registry. */
export class QueueFamilies {
  readonly #adds: Counter<Labels>;
  readonly #retries: Counter<Labels>;
  readonly #queueDuration: Histogram<Labels>;
  readonly #workDuration: Histogram<Labels>;
  /** Of each name the latest queue: the next one of a name begins anew. */
  readonly #queues = new Map<string, { series: QueueSeries; work: WorkInFlight }>();

  constructor(register: Registry) {
    const common = { labelNames: LABELS, registers: [register] };
    this.#adds = new Counter({
      ...common,
      name: "workqueue_adds_total",
      help: "How many keys were queued",
    });
    this.#retries = new Counter({
      ...common,
      name: "workqueue_retries_total",
      help: "How many keys were added with a delay",
    });
    this.#queueDuration = new Histogram({
      ...common,
      buckets: BUCKETS,
      name: "workqueue_queue_duration_seconds",
      help: "How long a key was queued before it was taken",
    });
    this.#workDuration = new Histogram({
      ...common,
      buckets: BUCKETS,
      name: "workqueue_work_duration_seconds",
      help: "How long a key was worked on",
    });
    this.#readWhenScraped(register);
  }

  queue(name: string): QueueMetrics {
    const labels = { name, controller: name };
    this.#adds.inc(labels, 0);
    this.#retries.inc(labels, 0);
    this.#queueDuration.zero(labels);
    this.#workDuration.zero(labels);
    return new QueueSeries(
      {
        added: () => this.#adds.inc(labels),
        retried: () => this.#retries.inc(labels),
        waited: (seconds) => this.#queueDuration.observe(labels, seconds),
        worked: (seconds) => this.#workDuration.observe(labels, seconds),
      },
      (series, work) => void this.#queues.set(name, { series, work }),
    );
  }

  #readWhenScraped(register: Registry): void {
    const queues = this.#queues;
    const common = { labelNames: LABELS, registers: [register] };
    new Gauge({
      ...common,
      labelNames: [...LABELS, "priority"],
      name: "workqueue_depth",
      help: "How many keys are queued",
      collect() {
        this.reset();
        for (const [name, { series }] of queues)
          for (const [priority, depth] of series.depths)
            this.set({ name, controller: name, priority }, depth);
      },
    });
    new Gauge({
      ...common,
      name: "workqueue_unfinished_work_seconds",
      help: "How long all work in flight has been running, added up",
      collect() {
        for (const [name, { work }] of queues)
          this.set({ name, controller: name }, work.unfinished / 1_000);
      },
    });
    new Gauge({
      ...common,
      name: "workqueue_longest_running_processor_seconds",
      help: "How long the longest work in flight has been running",
      collect() {
        for (const [name, { work }] of queues)
          this.set({ name, controller: name }, work.longestRunning / 1_000);
      },
    });
  }
}
