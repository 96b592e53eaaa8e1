#!/usr/bin/env bash
# Package: @opentelemetry/exporter-metrics-otlp-http 0.223.0, @opentelemetry/sdk-metrics 2.12.1
# Guess: a Retry-After beyond the time of the export is cut to it, or `forceFlush` rejects.
# Seen: the export is given up at once, and `forceFlush` and `shutdown` resolve: nothing was delivered.
. "$(dirname "$0")/lib.sh"
packages @opentelemetry/exporter-metrics-otlp-http@0.223.0 @opentelemetry/sdk-metrics@2.12.1 @opentelemetry/api@1.9.0
observe <<'JS'
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { busy, seconds, serve } from "./kit.mjs";

for (const wait of ["2", "60"])
  for (const end of ["forceFlush", "shutdown"]) {
    const server = await serve(busy(1, 503, { "retry-after": wait }));
    const exporter = new OTLPMetricExporter({ url: server.url });
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1_000_000 });
    const provider = new MeterProvider({ readers: [reader] });
    provider.getMeter("m").createCounter("c").add(1);
    const begin = performance.now();
    const outcome = await provider[end]().then(() => "resolves", () => "rejects");
    const time = seconds(performance.now() - begin, 1);
    console.log(`Retry-After: ${wait}: ${end} ${outcome} after ${time} s and ${server.times.length} requests`);
    server.close();
  }
process.exit();
JS
expect <<'TEXT'
Retry-After: 2: forceFlush resolves after 2 s and 2 requests
Retry-After: 2: shutdown resolves after 2 s and 2 requests
Retry-After: 60: forceFlush resolves after 0 s and 1 requests
Retry-After: 60: shutdown resolves after 0 s and 1 requests
TEXT
