import { expect, it } from "vitest";
import { reduce, type Statuses } from "../../src/supervisor/core/status.ts";
import { LogView } from "../../src/supervisor/view/log-view.ts";
import { createPalette } from "../../src/supervisor/view/palette.ts";
import type { Program } from "./fake-process-table.ts";
import { FakeSupervisor } from "./fake-supervisor.ts";

/** What a log of everything that a supervisor told says. */
function logOf({ events }: FakeSupervisor, colours = false): string[] {
  const lines: string[] = [];
  const start = events[0]?.at ?? 0;
  const palette = createPalette(colours);
  const view = new LogView({ write: (text) => lines.push(text.trimEnd()), palette, start });
  let statuses: Statuses = new Map();
  for (const event of events) {
    statuses = reduce(statuses, event);
    view.show(event, statuses);
  }
  view.close();
  return lines;
}

const programs: Readonly<Record<string, Program>> = {
  web: () => ({ afterTerm: Number.POSITIVE_INFINITY }),
  crash: () => ({ runs: 50, exit: { kind: "code", code: 3, words: "no config" } }),
  job: () => ({ runs: 2_000, exit: { kind: "code", code: 0 } }),
  typo: () => ({ unstartable: "typo was not found" }),
};

const MANIFEST = `
grace: 3s
backoff: { duration: 2s, cap: 2s, resetAfter: 10s }
processes:
  web: { command: web, readiness: { port: 80 } }
  crasher: { command: crash }
  job: { command: job, restart: OnFailure }
  typo: { command: typo, restart: Never }
`;

it("prints one line per change", async () => {
  const fake = new FakeSupervisor(programs);
  fake.apply(MANIFEST);
  await fake.clock.step(2_060);
  fake.apply(MANIFEST.replace("  crasher: { command: crash }\n", ""));
  await fake.clock.step(0);
  await fake.clock.run(() => fake.shutdown("time is up"));
  expect(logOf(fake)).toEqual([
    "00:00.000  supervisor  test.yaml: start web, crasher, job, typo",
    "00:00.000  web         Running, pid 101",
    "00:00.000  web         ready: http://127.0.0.1:80/ answers",
    "00:00.000  crasher     Running, pid 102",
    "00:00.000  job         Running, pid 103",
    "00:00.000  typo        Failed: typo was not found",
    '00:00.050  crasher     CrashLoopBackOff, restart 1 in 2s: code 3 after 50ms, "no config"',
    "00:02.000  job         Completed: code 0 after 2s",
    "00:02.050  crasher     Running, pid 105",
    "00:02.060  supervisor  test.yaml: stop crasher",
    "00:02.060  crasher     Terminating, it left the manifest: SIGTERM, grace 3s",
    "00:02.060  crasher     Stopped: SIGTERM after 10ms",
    "00:02.060  crasher     gone",
    "00:02.060  supervisor  time is up: stopping, grace 3s",
    "00:02.060  web         Terminating, the supervisor stops: SIGTERM, grace 3s",
    "00:05.060  web         still running after 3s: SIGKILL",
    "00:05.060  web         Stopped: SIGKILL after 5.06s",
  ]);
});

it("reports a mistake in an edit, and that nothing changed", () => {
  const fake = new FakeSupervisor(programs);
  const at = fake.clock.monotonic();
  const source = "grace: 3";
  const errors = [{ file: "my.yaml", line: 1, column: 8, message: "grace is 3", source }];
  fake.events.push({ type: "rejected", at, errors });
  fake.events.push({ type: "unreadable", at, file: "my.yaml", message: "my.yaml is gone" });
  expect(logOf(fake)).toEqual([
    "00:00.000  supervisor  my.yaml:1:8: grace is 3",
    "00:00.000  supervisor  keeping the last valid manifest; correct this one and save it",
    "00:00.000  supervisor  my.yaml is gone",
    "00:00.000  supervisor  keeping the last valid manifest; correct this one and save it",
  ]);
});

it("reports the other events of a supervisor", () => {
  const fake = new FakeSupervisor(programs);
  const at = fake.clock.monotonic();
  fake.events.push(
    { type: "serving", at, url: "http://127.0.0.1:8080/" },
    { type: "leading", at, identity: "replica-1", token: 3 },
    { type: "following", at, leader: "replica-2" },
    { type: "following", at, leader: undefined },
    { type: "failed", at, message: "Error: no port is free" },
  );
  expect(logOf(fake)).toEqual([
    "00:00.000  supervisor  its page: http://127.0.0.1:8080/",
    "00:00.000  supervisor  replica-1 leads, token 3",
    "00:00.000  supervisor  replica-2 leads",
    "00:00.000  supervisor  no leader",
    "00:00.000  supervisor  Error: no port is free; trying again",
  ]);
});

it("uses colours only on request", async () => {
  const fake = new FakeSupervisor(programs);
  fake.apply("processes: { typo: { command: typo, restart: Never } }");
  await fake.clock.step(0);
  expect(logOf(fake, false).join("")).not.toContain("\u001b");
  expect(logOf(fake, true).at(-1)).toContain("\u001b[31mFailed: typo was not found\u001b[39m");
});
