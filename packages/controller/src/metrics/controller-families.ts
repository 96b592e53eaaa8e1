import { type Counted, type Measured, type MetricSink, SetGauge } from "@holdfast/kit";
import type { ControllerMetrics, ReconcileOutcome } from "../controller-metrics.ts";

/** From 5 ms to a minute, as in controller-runtime. */
const BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1,
  1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** The values of the label `result` in controller-runtime, and one of our own. */
const LABELS: Record<ReconcileOutcome, string> = {
  success: "success",
  requeue_after: "requeue_after",
  error: "error",
  timeout: "error",
  terminal: "error",
  gave_up: "error",
  interrupted: "interrupted",
};

type Label = "controller";

/** The metrics of all controllers. */
export class ControllerFamilies {
  readonly #total: Counted<Label | "result">;
  readonly #errors: Counted<Label>;
  readonly #terminalErrors: Counted<Label>;
  readonly #timeouts: Counted<Label>;
  readonly #time: Measured<Label>;
  readonly #maxWorkers: SetGauge<Label>;
  readonly #activeWorkers: SetGauge<Label>;

  constructor(sink: MetricSink) {
    const labelNames = ["controller"] as const;
    this.#total = sink.counter({
      labelNames: ["controller", "result"],
      name: "controller_runtime_reconcile_total",
      help: "Number of reconciles that have ended, by controller and result",
    });
    this.#errors = sink.counter({
      labelNames,
      name: "controller_runtime_reconcile_errors_total",
      help: "Number of reconciles that have ended with an error, by controller",
    });
    this.#terminalErrors = sink.counter({
      labelNames,
      name: "controller_runtime_terminal_reconcile_errors_total",
      help: "Number of reconciles that have ended with a terminal error, by controller",
    });
    this.#timeouts = sink.counter({
      labelNames,
      name: "controller_runtime_reconcile_timeouts_total",
      help: "Number of reconciles whose timeout expired, by controller",
    });
    this.#time = sink.histogram({
      labelNames,
      buckets: BUCKETS,
      name: "controller_runtime_reconcile_time_seconds",
      help: "Seconds that a reconcile took, by controller",
    });
    this.#maxWorkers = new SetGauge(sink, {
      labelNames,
      name: "controller_runtime_max_concurrent_reconciles",
      help: "Maximum number of reconciles at a time, by controller",
    });
    this.#activeWorkers = new SetGauge(sink, {
      labelNames,
      name: "controller_runtime_active_workers",
      help: "Number of workers that are busy now, by controller",
    });
  }

  controller(controller: string): ControllerMetrics {
    const labels = { controller };
    for (const result of Object.values(LABELS)) this.#total.add({ controller, result }, 0);
    for (const counter of [this.#errors, this.#terminalErrors, this.#timeouts])
      counter.add(labels, 0);
    this.#time.zero(labels);
    this.#activeWorkers.add(labels, 0);
    return {
      reconciled: (result, duration, isLate) => {
        this.#total.add({ controller, result: LABELS[result] });
        this.#time.record(labels, duration / 1_000);
        if (isLate) this.#timeouts.add(labels);
        if (LABELS[result] === "error") this.#errors.add(labels);
        if (result === "terminal" || result === "gave_up") this.#terminalErrors.add(labels);
      },
      activeWorkers: (change) => this.#activeWorkers.add(labels, change),
      maxWorkers: (count) => this.#maxWorkers.set(labels, count),
    };
  }
}
