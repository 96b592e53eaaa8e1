// Loaded before a program, by `--import` with the path of a report: notes each file of the packages that asks the machine
// for time or randomness, once, beside the program that it runs in.
import { appendFileSync } from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";

const report = new URL(import.meta.url).searchParams.get("report");
const FILE = /\/packages\/([a-z-]+)\/dist\/([^:]+)\.js\b/;
const fileOf = (text) => (FILE.exec(text) ?? []).slice(1).join("/");
const program = fileOf(process.argv[1] ?? "");
const noted = new Set();

/** Notes the file that calls, if it is one of the packages: the first line of a stack is this one, the next the trap. */
function note(kind) {
  const [, , , ...callers] = new Error(kind).stack.split("\n");
  const [first = "", ...others] = callers.map(fileOf);
  // The fake clock counts the turns of the real event loop.
  const isFake = first === "clock/host/platform" && others.includes("clock/testing/event-loop");
  const file = isFake ? "clock/testing/event-loop" : first;
  const line = `${program} ${kind} ${file}\n`;
  if (file === "" || noted.has(line)) return;
  noted.add(line);
  appendFileSync(report, line);
}

/** Replaces functions by ones that note their callers. */
function watch(kind, owner, ...names) {
  for (const name of names)
    owner[name] = new Proxy(owner[name], {
      apply(call, self, args) {
        note(kind);
        return Reflect.apply(call, self, args);
      },
    });
}

const require = createRequire(import.meta.url);
const timers = ["setTimeout", "setInterval", "setImmediate"];
watch("time", globalThis, ...timers);
watch("time", require("node:timers"), ...timers);
watch("time", require("node:timers/promises"), ...timers);
watch("time", AbortSignal, "timeout");
watch("time", Date, "now");
watch("time", performance, "now");
watch("time", process, "hrtime", "uptime");
watch("chance", Math, "random");
watch("chance", crypto, "randomUUID", "getRandomValues");
watch("chance", require("node:crypto"), "randomUUID", "randomBytes", "randomInt");
globalThis.Date = new Proxy(Date, {
  construct(made, args, target) {
    if (args.length === 0) note("time");
    return Reflect.construct(made, args, target);
  },
});
syncBuiltinESMExports();
