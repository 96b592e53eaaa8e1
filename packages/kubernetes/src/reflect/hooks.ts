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
    call(
      () => this.#logger[level](details, message),
      () => {},
    );
  }

  /** Hands a fact to the metrics. Their errors are logged. */
  measure(fact: (metrics: KubernetesMetrics) => void): void {
    const metrics = this.#metrics;
    if (metrics === undefined) return;
    call(
      () => fact(metrics),
      (err) => this.log("error", { err }, "metrics failed"),
    );
  }
}

/** An async function is a hook as well: its type allows any return value. */
function call(hook: () => unknown, onError: (error: unknown) => void): void {
  try {
    Promise.resolve(hook()).catch(onError);
  } catch (error) {
    onError(error);
  }
}
