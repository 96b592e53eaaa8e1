/**
 * Metrics of operators for OpenTelemetry.
 *
 * @packageDocumentation
 */
export {
  type OperatorOpenTelemetryOptions,
  openTelemetryMetrics,
} from "./open-telemetry-metrics.ts";
