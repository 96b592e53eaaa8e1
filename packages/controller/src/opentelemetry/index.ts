/**
 * A span for each reconcile, and the metrics of queues, controllers and leaders.
 *
 * @packageDocumentation
 */

export type { Candidate } from "../metrics/leadership-gauge.ts";
export type { ProgramMetrics } from "../metrics/program-metrics.ts";
export type { ShardedProcess } from "../metrics/shard-families.ts";
export {
  OpenTelemetryMetrics,
  type OpenTelemetryMetricsOptions,
} from "./open-telemetry-metrics.ts";
export { type TracedOptions, type TracedRequest, traced } from "./traced.ts";
