/**
 * Metrics of an outbox for `prom-client`.
 *
 * @packageDocumentation
 */

export { OutboxMetrics, type OutboxMetricsOptions } from "./outbox-metrics.ts";
