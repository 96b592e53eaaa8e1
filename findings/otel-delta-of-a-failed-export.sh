#!/usr/bin/env bash
# Package: @opentelemetry/sdk-metrics 2.12.1
# Guess: the counts of an export that failed are in the next one, with delta temporality too, or `forceFlush` rejects.
# Seen: `forceFlush` resolves. With delta temporality the counts are lost; with cumulative they come with the next export.
. "$(dirname "$0")/lib.sh"
packages @opentelemetry/sdk-metrics@2.12.1 @opentelemetry/api@1.9.0
observe <<'JS'
import { AggregationTemporality, MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";

for (const temporality of ["DELTA", "CUMULATIVE"]) {
  const sums = [];
  let exports = 0;
  const exporter = {
    export({ scopeMetrics }, done) {
      const value = scopeMetrics[0].metrics[0].dataPoints[0].value;
      if (++exports === 1) return done({ code: 1, error: new Error("collector is down") });
      sums.push(value);
      done({ code: 0 });
    },
    forceFlush: async () => {},
    shutdown: async () => {},
    selectAggregationTemporality: () => AggregationTemporality[temporality],
  };
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1_000_000 });
  const provider = new MeterProvider({ readers: [reader] });
  const counter = provider.getMeter("m").createCounter("orders");
  counter.add(5);
  const first = await provider.forceFlush().then(() => "resolves", () => "rejects");
  counter.add(2);
  await provider.forceFlush();
  console.log(`${temporality}: forceFlush of the failed export ${first}; 7 counted, then exported: ${sums}`);
}
process.exit();
JS
expect <<'TEXT'
DELTA: forceFlush of the failed export resolves; 7 counted, then exported: 2
CUMULATIVE: forceFlush of the failed export resolves; 7 counted, then exported: 7
TEXT
