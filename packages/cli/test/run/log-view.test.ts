import { expect, it } from "vitest";
import { reduce, type Statuses } from "../../src/run/core/status.ts";
import { LogView } from "../../src/run/view/log-view.ts";
import type { Program } from "./fake-process-table.ts";
import { FakeSupervisor } from "./fake-supervisor.ts";

/** What a log of everything that a supervisor told says; errors begin with "!". */
function logOf({ events }: FakeSupervisor): string[] {
  const lines: string[] = [];
  const info = (line: string): number => lines.push(line);
  const view = new LogView({ info, error: (line) => lines.push(`!${line}`), detail: info });
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
  web: { command: web, readiness: { http: 80 } }
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
    "test.yaml: start web, crasher, job, typo",
    "web: Running, pid 101",
    "crasher: Running, pid 102",
    "web: ready: http://127.0.0.1:80/ answers",
    "job: Running, pid 103",
    "!typo: Failed: typo was not found",
    'crasher: CrashLoopBackOff, restart 1 in 2s: code 3 after 50ms, "no config"',
    "job: Completed: code 0 after 2s",
    "crasher: Running, pid 105",
    "test.yaml: stop crasher",
    "crasher: Terminating, it left the manifest: SIGTERM, grace 3s",
    "crasher: Stopped: SIGTERM after 10ms",
    "crasher: gone",
    "time is up: stopping",
    "web: Terminating, the supervisor stops: SIGTERM, grace 3s",
    "web: still running after 3s: SIGKILL",
    "web: Stopped: SIGKILL after 5.06s",
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
    "!my.yaml:1:8: grace is 3",
    "!keeping the last valid manifest; correct this one and save it",
    "!my.yaml is gone",
    "!keeping the last valid manifest; correct this one and save it",
  ]);
});

it("reports the other events of a supervisor", () => {
  const fake = new FakeSupervisor(programs);
  const at = fake.clock.monotonic();
  fake.events.push(
    { type: "serving", at, url: "http://127.0.0.1:8080/" },
    { type: "failed", at, message: "Error: no port is free" },
  );
  expect(logOf(fake)).toEqual([
    "its page: http://127.0.0.1:8080/",
    "!Error: no port is free; trying again",
  ]);
});
