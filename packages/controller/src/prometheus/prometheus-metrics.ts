import { type Kinds, methods, read } from "@holdfast/kit";
import { prometheusSink } from "@holdfast/kit/prometheus";
import { register as globalRegister, type Registry } from "prom-client";
import { ProgramMetrics } from "../metrics/program-metrics.ts";

export const PROMETHEUS_METRICS_OPTIONS: Kinds<PrometheusMetricsOptions> = {
  register: methods("registerMetric", "metrics"),
};

/** Where {@link PrometheusMetrics} go. */
export interface PrometheusMetricsOptions {
  /**
   * The registry that is scraped.
   *
   * @defaultValue `register` of prom-client
   */
  readonly register?: Registry | undefined;
}

/**
 * The metrics of {@link ProgramMetrics} in a registry of prom-client. Create one for each registry; prom-client
 * rejects a second.
 *
 * @example
 * ```ts
 * import { WorkQueue } from "@holdfast/controller";
 * import { PrometheusMetrics } from "@holdfast/controller/prometheus";
 * import { Registry } from "prom-client";
 *
 * const register = new Registry();
 * const metrics = new PrometheusMetrics({ register });
 * const queue = new WorkQueue({ name: "uploads", metrics: metrics.queue("uploads") });
 * queue.add("a.txt");
 * console.log(await register.getSingleMetricAsString("workqueue_adds_total"));
 * // => # HELP workqueue_adds_total Number of adds that the queue has handled
 * // => # TYPE workqueue_adds_total counter
 * // => workqueue_adds_total{name="uploads",controller="uploads"} 1
 * ```
 */
export class PrometheusMetrics extends ProgramMetrics {
  /**
   * @param options - see {@link PrometheusMetricsOptions}
   * @throws TypeError if `register` is not a registry, Error if it has metrics of these names
   */
  constructor(options: PrometheusMetricsOptions = {}) {
    const given = read("options", options, "PrometheusMetrics", PROMETHEUS_METRICS_OPTIONS);
    super(prometheusSink(given.register ?? globalRegister));
  }
}
