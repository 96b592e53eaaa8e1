/** Metrics of a meter of OpenTelemetry. */
export { METER_METHODS, openTelemetrySink } from "./open-telemetry-sink.ts";
