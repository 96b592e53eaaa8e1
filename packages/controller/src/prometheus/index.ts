/**
 * Metrics of queues, controllers and leaders for `prom-client`.
 *
 * @packageDocumentation
 */

export type { Candidate } from "../metrics/leadership-gauge.ts";
export type { ProgramMetrics } from "../metrics/program-metrics.ts";
export type { ShardedProcess } from "../metrics/shard-families.ts";
export { PrometheusMetrics, type PrometheusMetricsOptions } from "./prometheus-metrics.ts";
