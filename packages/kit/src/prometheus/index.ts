/** Metrics in a registry of prom-client. */
export { prometheusSink } from "./prometheus-sink.ts";
