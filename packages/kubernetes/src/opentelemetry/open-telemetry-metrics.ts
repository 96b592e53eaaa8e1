import { OpenTelemetryMetrics } from "@holdfast/controller/opentelemetry";
import { type Kinds, methods, read, required } from "@holdfast/kit";
import { METER_METHODS, openTelemetrySink } from "@holdfast/kit/opentelemetry";
import type { Meter } from "@opentelemetry/api";
import { operatorMetricsOn } from "../metrics/operator-metrics-on.ts";
import type { OperatorMetrics } from "../operator/operator-metrics.ts";

export const OPERATOR_OPEN_TELEMETRY_OPTIONS: Kinds<OperatorOpenTelemetryOptions> = {
  meter: required(methods(...METER_METHODS)),
  controllers: methods("controller", "queue", "leadership", "shards"),
};

/** Options for {@link openTelemetryMetrics}. */
export interface OperatorOpenTelemetryOptions {
  /** Meter of the metrics: `metrics.getMeter("my-operator")`, once the SDK has started. */
  readonly meter: Meter;

  /**
   * The metrics of controllers in the same meter, if there are some already.
   *
   * @defaultValue new ones
   */
  readonly controllers?: OpenTelemetryMetrics | undefined;
}

/**
 * The metrics of an operator in a meter of OpenTelemetry: the option `metrics` of `runOperator`, of a `Cluster` and of a
 * `KubeClient`. They have the names, the labels, as attributes, and the buckets of `prometheusMetrics`, so that the same
 * dashboards and alerts work. A histogram begins with its first value.
 *
 * Make one for a meter: a second reports the same gauges again.
 *
 * @param options - see {@link OperatorOpenTelemetryOptions}
 * @returns the receiver of the metrics
 * @throws TypeError for a bad option
 *
 * @example
 * ```ts
 * import { openTelemetryMetrics } from "@holdfast/kubernetes/opentelemetry";
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
 * const metrics = openTelemetryMetrics({ meter: provider.getMeter("operator") });
 * metrics.requested({ method: "GET", code: "200", duration: 12 });
 *
 * await provider.forceFlush();
 * const all = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
 * const requests = all.find(({ descriptor }) => descriptor.name === "rest_client_requests_total");
 * console.log(requests?.dataPoints[0]?.attributes, requests?.dataPoints[0]?.value);
 * // => { code: '200', method: 'GET' } 1
 * await provider.shutdown();
 * ```
 */
export function openTelemetryMetrics(options: OperatorOpenTelemetryOptions): OperatorMetrics {
  const given = read("options", options, "openTelemetryMetrics", OPERATOR_OPEN_TELEMETRY_OPTIONS);
  const { meter, controllers = new OpenTelemetryMetrics({ meter }) } = given;
  return operatorMetricsOn(openTelemetrySink(meter), controllers);
}
