#!/usr/bin/env bash
# Package: prom-client 15.1.3, @opentelemetry/sdk-metrics 2.12.1
# Guess: both refuse or drop NaN, as both do with a negative increment.
# Seen: their histograms do; their counters take one NaN, such as a missing `content-length`, and stay NaN for ever.
. "$(dirname "$0")/lib.sh"
packages prom-client@15.1.3 @opentelemetry/sdk-metrics@2.12.1 @opentelemetry/api@1.9.0
observe <<'JS'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { Counter, Histogram } from "prom-client";

const attempt = (call) => {
  try {
    call();
  } catch {}
};
const counter = new Counter({ name: "c", help: "c" });
const histogram = new Histogram({ name: "h", help: "h", buckets: [1] });
for (const value of [1, -1, Number.NaN, 2]) {
  attempt(() => counter.inc(value));
  attempt(() => histogram.observe(Math.abs(value)));
}
const sum = (await histogram.get()).values.find(({ metricName }) => metricName === "h_sum").value;
console.log(`prom-client: counter ${(await counter.get()).values[0].value}, sum of the histogram ${sum}`);

const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1_000_000 });
const meter = new MeterProvider({ readers: [reader] }).getMeter("m");
const [c, h] = [meter.createCounter("c"), meter.createHistogram("h")];
for (const value of [1, -1, Number.NaN, 2]) {
  c.add(value);
  h.record(Math.abs(value));
}
await reader.forceFlush();
const [counted, recorded] = exporter.getMetrics()[0].scopeMetrics[0].metrics.map(({ dataPoints }) => dataPoints[0].value);
console.log(`OpenTelemetry: counter ${counted}, sum of the histogram ${recorded.sum}`);
process.exit();
JS
expect <<'TEXT'
prom-client: counter NaN, sum of the histogram 4
OpenTelemetry: counter NaN, sum of the histogram 4
TEXT
