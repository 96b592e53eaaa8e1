/**
 * Metrics of queues, controllers and leaders for `prom-client`.
 *
 * @packageDocumentation
 */

export type { Candidate } from "./leadership-gauge.ts";
export { PrometheusMetrics, type PrometheusMetricsOptions } from "./prometheus-metrics.ts";
export type { ShardedProcess } from "./shard-families.ts";
