import type { Meter, MetricOptions, Observable } from "@opentelemetry/api";
import type { Metric, MetricSink, ReadMetric } from "../metrics.ts";

/** The methods of a meter that {@link openTelemetrySink} calls. */
export const METER_METHODS: readonly (keyof Meter)[] = [
  "createCounter",
  "createHistogram",
  "createObservableGauge",
  "createObservableCounter",
];

/** Creates an instrument for each metric. A histogram begins with its first value. */
export function openTelemetrySink(meter: Meter): MetricSink {
  return {
    counter: (metric) => {
      const counter = meter.createCounter(metric.name, optionsOf(metric));
      if (metric.labelNames === undefined) counter.add(0); // As in Prometheus, its one series is there.
      return { add: (labels, count = 1) => counter.add(count, labels) };
    },
    histogram: (metric) => {
      const advice = { explicitBucketBoundaries: metric.buckets.map(Number) };
      const histogram = meter.createHistogram(metric.name, { ...optionsOf(metric), advice });
      return { zero: () => {}, record: (labels, value) => histogram.record(value, labels) };
    },
    gauge: (metric) => observe(meter.createObservableGauge(metric.name, optionsOf(metric)), metric),
    total: (metric) =>
      observe(meter.createObservableCounter(metric.name, optionsOf(metric)), metric),
  };
}

/** The unit is at the end of the name, where exporters for Prometheus would add it. */
function optionsOf<Label extends string>({ name, help }: Metric<Label>): MetricOptions {
  return { description: help, ...(name.endsWith("_seconds") ? { unit: "s" } : {}) };
}

function observe<Label extends string>(
  instrument: Observable<Record<Label, string>>,
  { read }: ReadMetric<Label>,
): void {
  instrument.addCallback(async (result) => {
    for (const [labels, value] of await read()) result.observe(value, labels);
  });
}
