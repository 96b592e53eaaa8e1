import { type Kinds, methods, read, required } from "@holdfast/kit";
import { METER_METHODS, openTelemetrySink } from "@holdfast/kit/opentelemetry";
import type { Meter } from "@opentelemetry/api";
import {
  MEASURED_OUTBOX_OPTIONS,
  MeasuredOutbox,
  type MeasuredOutboxOptions,
} from "../metrics/measured-outbox.ts";

export const OPEN_TELEMETRY_OUTBOX_METRICS_OPTIONS: Kinds<OpenTelemetryOutboxMetricsOptions> = {
  ...MEASURED_OUTBOX_OPTIONS,
  meter: required(methods(...METER_METHODS)),
};

/** Options for {@link OpenTelemetryOutboxMetrics}. */
export interface OpenTelemetryOutboxMetricsOptions extends MeasuredOutboxOptions {
  /** Meter of the metrics: `metrics.getMeter("my-service")`, once the SDK has started. */
  readonly meter: Meter;
}

/**
 * The metrics of {@link MeasuredOutbox} in a meter of OpenTelemetry, a scrape being a collection of its reader. Make
 * one for a meter: a second reports the same gauges again. A histogram begins with its first value.
 *
 * @example
 * ```ts
 * import { OpenTelemetryOutboxMetrics } from "@holdfast/outbox/opentelemetry";
 * import { MemoryStore } from "@holdfast/outbox/testing";
 * import {
 *   AggregationTemporality,
 *   InMemoryMetricExporter,
 *   MeterProvider,
 *   PeriodicExportingMetricReader,
 * } from "@opentelemetry/sdk-metrics";
 *
 * const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
 * const provider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
 *
 * const meter = provider.getMeter("shop");
 * const metrics = new OpenTelemetryOutboxMetrics({ store: new MemoryStore(), meter });
 * metrics.onEvent({ type: "removed", count: 250 }); // new Retention({ onEvent: metrics.onEvent, ... })
 *
 * await provider.forceFlush();
 * const all = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
 * const removed = all.find(({ descriptor }) => descriptor.name === "outbox_removed_total");
 * console.log(removed?.dataPoints[0]?.value); // => 250
 * await provider.shutdown();
 * ```
 */
export class OpenTelemetryOutboxMetrics extends MeasuredOutbox {
  /**
   * @param options - see {@link OpenTelemetryOutboxMetricsOptions}
   * @throws RangeError or TypeError that names the option
   */
  constructor(options: OpenTelemetryOutboxMetricsOptions) {
    const name = "OpenTelemetryOutboxMetrics";
    const given = read("options", options, name, OPEN_TELEMETRY_OUTBOX_METRICS_OPTIONS);
    super(openTelemetrySink(given.meter), given);
  }
}
