import type { PassiveClock } from "@holdfast/clock";
import type { Logger } from "@holdfast/controller";
import { callSafely, messageOf, RepeatedLines } from "@holdfast/kit";
import type { KubernetesMetrics } from "../kubernetes-metrics.ts";

/** Calls the logger and the metrics of the user, whose errors must not end a reflector. */
export class Hooks {
  readonly #logger: Logger;
  readonly #metrics: KubernetesMetrics | undefined;
  readonly #lines: RepeatedLines;

  constructor(logger: Logger, metrics: KubernetesMetrics | undefined, clock: PassiveClock) {
    this.#logger = logger;
    this.#metrics = metrics;
    this.#lines = new RepeatedLines(clock);
  }

  /** Logs an error about a subject once a minute; others of it are at debug level. */
  logRepeated(subject: string, details: { readonly err: unknown }, message: string): void {
    const more = this.#lines.detailsOf(subject, messageOf(details.err));
    this.log(more === undefined ? "debug" : "error", { ...details, ...more }, message);
  }

  /** Logs a line. An error of the logger is dropped: there is nowhere left to report it. */
  log(level: keyof Logger, details: object, message: string): void {
    callSafely(() => this.#logger[level](details, message));
  }

  /** Hands a fact to the metrics. Their errors are logged once a minute. */
  measure(fact: (metrics: KubernetesMetrics) => void): void {
    const metrics = this.#metrics;
    if (metrics === undefined) return;
    callSafely(
      () => fact(metrics),
      (err) => {
        const more = this.#lines.detailsOf("metrics", messageOf(err));
        if (more !== undefined) this.log("error", { err, ...more }, "metrics failed");
      },
    );
  }
}
