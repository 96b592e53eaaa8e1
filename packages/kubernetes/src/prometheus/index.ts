/**
 * Metrics of operators for `prom-client`.
 *
 * @packageDocumentation
 */
export { type OperatorPrometheusOptions, prometheusMetrics } from "./prometheus-metrics.ts";
