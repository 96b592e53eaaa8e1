export { OutboxMetrics, type OutboxMetricsOptions } from "./outbox-metrics.ts";
