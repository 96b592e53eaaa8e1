import { Counter, Gauge, Histogram, type Registry } from "prom-client";
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

/** The metrics of all controllers of a registry. */
export class ControllerFamilies {
  readonly #total: Counter<Label | "result">;
  readonly #errors: Counter<Label>;
  readonly #terminalErrors: Counter<Label>;
  readonly #timeouts: Counter<Label>;
  readonly #time: Histogram<Label>;
  readonly #maxWorkers: Gauge<Label>;
  readonly #activeWorkers: Gauge<Label>;

  constructor(register: Registry) {
    const common = { labelNames: ["controller"] as const, registers: [register] };
    this.#total = new Counter({
      ...common,
      labelNames: ["controller", "result"],
      name: "controller_runtime_reconcile_total",
      help: "Number of reconciles that have ended, by controller and result",
    });
    this.#errors = new Counter({
      ...common,
      name: "controller_runtime_reconcile_errors_total",
      help: "Number of reconciles that have ended with an error, by controller",
    });
    this.#terminalErrors = new Counter({
      ...common,
      name: "controller_runtime_terminal_reconcile_errors_total",
      help: "Number of reconciles that have ended with a terminal error, by controller",
    });
    this.#timeouts = new Counter({
      ...common,
      name: "controller_runtime_reconcile_timeouts_total",
      help: "Number of reconciles whose timeout expired, by controller",
    });
    this.#time = new Histogram({
      ...common,
      buckets: BUCKETS,
      name: "controller_runtime_reconcile_time_seconds",
      help: "Seconds that a reconcile took, by controller",
    });
    this.#maxWorkers = new Gauge({
      ...common,
      name: "controller_runtime_max_concurrent_reconciles",
      help: "Maximum number of reconciles at a time, by controller",
    });
    this.#activeWorkers = new Gauge({
      ...common,
      name: "controller_runtime_active_workers",
      help: "Number of workers that are busy now, by controller",
    });
  }

  controller(controller: string): ControllerMetrics {
    const labels = { controller };
    for (const result of Object.values(LABELS)) this.#total.inc({ controller, result }, 0);
    for (const counter of [this.#errors, this.#terminalErrors, this.#timeouts])
      counter.inc(labels, 0);
    this.#time.zero(labels);
    this.#activeWorkers.inc(labels, 0);
    return {
      reconciled: (result, duration, isLate) => {
        this.#total.inc({ controller, result: LABELS[result] });
        this.#time.observe(labels, duration / 1_000);
        if (isLate) this.#timeouts.inc(labels);
        if (LABELS[result] === "error") this.#errors.inc(labels);
        if (result === "terminal" || result === "gave_up") this.#terminalErrors.inc(labels);
      },
      activeWorkers: (change) => this.#activeWorkers.inc(labels, change),
      maxWorkers: (count) => this.#maxWorkers.set(labels, count),
    };
  }
}
