import { callSafely } from "@holdfast/clock/internal";
import type { Logger } from "@holdfast/controller";
import type { KubernetesMetrics } from "../kubernetes-metrics.ts";

/** Calls the logger and the metrics of the user, whose errors must not end a reflector. */
export class Hooks {
  readonly #logger: Logger;
  readonly #metrics: KubernetesMetrics | undefined;

  constructor(logger: Logger, metrics: KubernetesMetrics | undefined) {
    this.#logger = logger;
    this.#metrics = metrics;
  }

  /** Logs a line. An error of the logger is dropped: there is nowhere left to report it. */
  log(level: keyof Logger, details: object, message: string): void {
    callSafely(() => this.#logger[level](details, message));
  }

  /** Hands a fact to the metrics. Their errors are logged. */
  measure(fact: (metrics: KubernetesMetrics) => void): void {
    const metrics = this.#metrics;
    if (metrics === undefined) return;
    callSafely(
      () => fact(metrics),
      (err) => this.log("error", { err }, "metrics failed"),
    );
  }
}
