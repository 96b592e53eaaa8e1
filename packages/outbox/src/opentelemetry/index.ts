/**
 * Metrics of an outbox for OpenTelemetry.
 *
 * @packageDocumentation
 */

export type { MeasuredOutbox, MeasuredOutboxOptions } from "../metrics/measured-outbox.ts";
export {
  OpenTelemetryOutboxMetrics,
  type OpenTelemetryOutboxMetricsOptions,
} from "./open-telemetry-outbox-metrics.ts";
