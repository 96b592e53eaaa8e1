import { type Kinds, methods, read, required } from "@holdfast/kit";
import { METER_METHODS, openTelemetrySink } from "@holdfast/kit/opentelemetry";
import type { Meter } from "@opentelemetry/api";
import { ProgramMetrics } from "../metrics/program-metrics.ts";

export const OPEN_TELEMETRY_METRICS_OPTIONS: Kinds<OpenTelemetryMetricsOptions> = {
  meter: required(methods(...METER_METHODS)),
};

/** Options for {@link OpenTelemetryMetrics}. */
export interface OpenTelemetryMetricsOptions {
  /** Meter of the metrics: `metrics.getMeter("my-service")`, once the SDK has started. */
  readonly meter: Meter;
}

/**
 * The metrics of {@link ProgramMetrics} in a meter of OpenTelemetry. Create one for each meter: a second reports the
 * same gauges again. Each metric has the name, the labels, as attributes, and the buckets that it has in Prometheus.
 *
 * A histogram begins with its first value; all other metrics are there from the start, as in `PrometheusMetrics`.
 *
 * @example
 * ```ts
 * import { WorkQueue } from "@holdfast/controller";
 * import { OpenTelemetryMetrics } from "@holdfast/controller/opentelemetry";
 * import {
 *   AggregationTemporality,
 *   InMemoryMetricExporter,
 *   MeterProvider,
 *   PeriodicExportingMetricReader,
 * } from "@opentelemetry/sdk-metrics";
 *
 * const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
 * const reader = new PeriodicExportingMetricReader({ exporter });
 * const provider = new MeterProvider({ readers: [reader] });
 *
 * const metrics = new OpenTelemetryMetrics({ meter: provider.getMeter("uploads") });
 * const queue = new WorkQueue({ name: "uploads", metrics: metrics.queue("uploads") });
 * queue.add("a.txt");
 *
 * await provider.forceFlush();
 * const all = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
 * const adds = all.find(({ descriptor }) => descriptor.name === "workqueue_adds_total");
 * const [point] = adds?.dataPoints ?? [];
 * console.log(point?.attributes["name"], point?.value); // => uploads 1
 * await provider.shutdown();
 * ```
 */
export class OpenTelemetryMetrics extends ProgramMetrics {
  /**
   * @param options - see {@link OpenTelemetryMetricsOptions}
   * @throws TypeError if `meter` is missing or no meter
   */
  constructor(options: OpenTelemetryMetricsOptions) {
    const given = read("options", options, "OpenTelemetryMetrics", OPEN_TELEMETRY_METRICS_OPTIONS);
    super(openTelemetrySink(given.meter));
  }
}
