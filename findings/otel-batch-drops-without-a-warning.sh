#!/usr/bin/env bash
# Package: @opentelemetry/api 1.9.1, @opentelemetry/sdk-trace-base 2.12.1
# Guess: of 5,000 spans that end in one turn, BatchSpanProcessor keeps `maxQueueSize`, 2,048, and warns of the others.
# Seen: 2,560 are exported, as the first batch of 512 leaves the queue at once. The others are dropped, and a logger of the
# level WARN hears nothing.
. "$(dirname "$0")/lib.sh"
packages @opentelemetry/api@1.9.1 @opentelemetry/sdk-trace-base@2.12.1
observe <<'JS'
import { DiagLogLevel, diag } from "@opentelemetry/api";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";

let warnings = 0;
const warn = () => warnings++;
const none = () => {};
diag.setLogger({ error: warn, warn, info: none, debug: none, verbose: none }, DiagLogLevel.WARN);
let exported = 0;
const exporter = {
  export(spans, done) {
    exported += spans.length;
    setTimeout(done, 5, { code: 0 });
  },
  forceFlush: async () => {},
  shutdown: async () => {},
};
const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
const tracer = provider.getTracer("program");
for (let i = 0; i < 5_000; i++) tracer.startSpan("work").end();
await provider.forceFlush();
await provider.shutdown();
console.log(`${exported} of 5000 exported, ${warnings} warnings`);
JS
expect <<'TEXT'
2560 of 5000 exported, 0 warnings
TEXT
