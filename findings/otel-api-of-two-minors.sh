#!/usr/bin/env bash
# Package: @opentelemetry/api 1.9.1 and 1.10.0, @opentelemetry/sdk-trace-base 2.12.1
# Guess: two copies of the API of one major share the tracer provider that either has registered.
# Seen: only if the reader is not newer than the registrar. The SDK takes an API below 1.10.0, so a library that brings 1.10.0
# gets a tracer that records nothing; no logger of the program's API hears of it.
. "$(dirname "$0")/lib.sh"
packages @opentelemetry/api@1.9.1 newer@npm:@opentelemetry/api@1.10.0 @opentelemetry/sdk-trace-base@2.12.1
cat >registered.mjs <<'JS'
import * as older from "@opentelemetry/api";
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import * as newer from "newer";

const apis = { "1.9.1": older, "1.10.0": newer };
const [registrar, reader] = process.argv.slice(2);
const api = apis[registrar];
api.diag.setLogger(new api.DiagConsoleLogger(), api.DiagLogLevel.WARN);
api.trace.setGlobalTracerProvider(new BasicTracerProvider());
const span = apis[reader].trace.getTracer("library").startSpan("work");
console.log(`registered by ${registrar}, read by ${reader}: ${span.isRecording() ? "recorded" : "lost"}`);
JS
observe <<'JS'
import { spawnSync } from "node:child_process";

for (const pair of [
  ["1.9.1", "1.9.1"],
  ["1.10.0", "1.9.1"],
  ["1.9.1", "1.10.0"],
]) {
  const { stdout, stderr } = spawnSync(process.execPath, ["registered.mjs", ...pair], { encoding: "utf8" });
  console.log(`${stdout.trim()}; ${stderr === "" ? "no warning" : "a warning"}`);
}
JS
expect <<'TEXT'
registered by 1.9.1, read by 1.9.1: recorded; no warning
registered by 1.10.0, read by 1.9.1: recorded; no warning
registered by 1.9.1, read by 1.10.0: lost; no warning
TEXT
