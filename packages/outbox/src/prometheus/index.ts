/**
 * Metrics of an outbox for `prom-client`.
 *
 * @packageDocumentation
 */

export type { MeasuredOutbox, MeasuredOutboxOptions } from "../metrics/measured-outbox.ts";
export { OutboxMetrics, type OutboxMetricsOptions } from "./outbox-metrics.ts";
