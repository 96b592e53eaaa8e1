import { expect, it } from "vitest";
import { FakeSupervisor } from "./fake-supervisor.ts";

const FOR_EVER = Number.POSITIVE_INFINITY;
const stays = (afterTerm: number) => () => ({ runs: FOR_EVER, afterTerm });

function manifest(...processes: string[]): string {
  return ["grace: 3s", "processes:", ...processes.map((line) => `  ${line}`)].join("\n");
}

it("sends SIGTERM and waits for the end", async () => {
  const fake = new FakeSupervisor({ polite: stays(500) });
  fake.apply(manifest("web: { command: polite }"));
  await fake.clock.step(1_000);
  await fake.clock.run(() => fake.shutdown("test"));
  expect(fake.timeline()).toEqual([
    [0, "web started"],
    [1_000, "web terminating (shutdown)"],
    [1_500, "web stopped: SIGTERM"],
  ]);
  expect(fake.clock.waiters()).toBe(0);
});

it("sends SIGKILL when the grace period is over", async () => {
  const fake = new FakeSupervisor({ stubborn: stays(FOR_EVER) });
  fake.apply(manifest("web: { command: stubborn }"));
  await fake.clock.step(1_000);
  const shutdown = fake.shutdown("test");
  await fake.clock.step(2_999);
  expect(fake.table.signals).toEqual(["web SIGTERM"]);
  expect(fake.table.alive()).toHaveLength(1);
  await fake.clock.step(1);
  await shutdown;
  expect(fake.table.alive()).toEqual([]);
  expect(fake.timeline()).toEqual([
    [0, "web started"],
    [1_000, "web terminating (shutdown)"],
    [4_000, "web killing"],
    [4_000, "web stopped: SIGKILL"],
  ]);
  expect(fake.clock.waiters()).toBe(0);
});

it("prefers the grace period of the command line to that of the manifest", async () => {
  const fake = new FakeSupervisor({ stubborn: stays(FOR_EVER) }, { grace: 250 });
  fake.apply(manifest("web: { command: stubborn }"));
  await fake.clock.step(0);
  await fake.clock.run(() => fake.shutdown("test"));
  expect(fake.timeline().at(-1)).toEqual([250, "web stopped: SIGKILL"]);
});

it("ends at once during a backoff", async () => {
  const fake = new FakeSupervisor({ crash: () => ({ runs: 0 }) });
  fake.apply(manifest("web: { command: crash, backoff: kubelet }"));
  await fake.clock.step(5_000);
  expect(fake.phases()).toEqual({ web: "CrashLoopBackOff" });
  await fake.shutdown("test");
  expect(fake.timeline().slice(-2)).toEqual([
    [0, "web waits 10000"],
    [5_000, "web stopped"],
  ]);
  expect(fake.clock.waiters()).toBe(0);
});

it("does not restart completed processes", async () => {
  const fake = new FakeSupervisor({ job: () => ({ runs: 10, exit: { kind: "code", code: 0 } }) });
  fake.apply(manifest("job: { command: job, restart: OnFailure }"));
  await fake.clock.step(1_000);
  await fake.shutdown("test");
  expect(fake.phases()).toEqual({ job: "Completed" });
});

it("restarts only the process whose entry changed", async () => {
  const fake = new FakeSupervisor({ a: stays(200), b: stays(200) });
  fake.apply(manifest("a: { command: a }", "b: { command: b }"));
  await fake.clock.step(1_000);
  fake.apply(manifest("a: { command: a }", "b: { command: b, args: [new] }"));
  await fake.clock.step(1_000);
  expect(fake.timeline()).toEqual([
    [0, "a started"],
    [0, "b started"],
    [1_000, "b terminating (changed)"],
    [1_200, "b stopped: SIGTERM"],
    [1_200, "b started"],
  ]);
});

it("starts new processes and stops removed ones", async () => {
  const fake = new FakeSupervisor({ a: stays(200), b: stays(200) });
  fake.apply(manifest("a: { command: a }"));
  await fake.clock.step(1_000);
  fake.apply(manifest("b: { command: b }"));
  await fake.clock.step(1_000);
  expect(fake.timeline()).toEqual([
    [0, "a started"],
    [1_000, "a terminating (removed)"],
    [1_000, "b started"],
    [1_200, "a stopped: SIGTERM"],
    [1_200, "a removed"],
  ]);
  expect(fake.phases()).toEqual({ b: "Running" });
});

it("changes the grace period without touching a process", async () => {
  const fake = new FakeSupervisor({ stubborn: stays(FOR_EVER) });
  fake.apply("grace: 9s\nprocesses: { web: { command: stubborn } }");
  await fake.clock.step(1_000);
  fake.apply("grace: 1s\nprocesses: { web: { command: stubborn } }");
  await fake.clock.run(() => fake.shutdown("test"));
  expect(fake.timeline()).toEqual([
    [0, "web started"],
    [1_000, "web terminating (shutdown)"],
    [2_000, "web killing"],
    [2_000, "web stopped: SIGKILL"],
  ]);
});

it("skips the versions of an entry that were edited away before their turn", async () => {
  const fake = new FakeSupervisor({ a: stays(200) });
  fake.apply(manifest("a: { command: a, args: [one] }"));
  await fake.clock.step(1_000);
  fake.apply(manifest("a: { command: a, args: [two] }"));
  await fake.clock.step(100);
  fake.apply(manifest("a: { command: a, args: [three] }"));
  await fake.clock.step(1_000);
  expect(fake.table.launches.map(({ args }) => args)).toEqual([["one"], ["three"]]);
  expect(fake.timeline().slice(-2)).toEqual([
    [1_200, "a stopped: SIGTERM"],
    [1_200, "a started"],
  ]);
});

it("waits for the old process when a removed entry comes back", async () => {
  const fake = new FakeSupervisor({ a: stays(200) });
  fake.apply(manifest("a: { command: a }"));
  await fake.clock.step(1_000);
  fake.apply("processes: {}");
  await fake.clock.step(100);
  fake.apply(manifest("a: { command: a }"));
  await fake.clock.step(1_000);
  expect(fake.timeline()).toEqual([
    [0, "a started"],
    [1_000, "a terminating (removed)"],
    [1_200, "a stopped: SIGTERM"],
    [1_200, "a started"],
  ]);
});

it("runs a completed process again when its entry changes", async () => {
  const fake = new FakeSupervisor({ job: () => ({ runs: 10, exit: { kind: "code", code: 0 } }) });
  fake.apply(manifest("job: { command: job, restart: Never }"));
  await fake.clock.step(1_000);
  fake.apply(manifest("job: { command: job, restart: Never, args: [again] }"));
  await fake.clock.step(1_000);
  expect(fake.timeline()).toEqual([
    [0, "job started"],
    [10, "job completes: code 0"],
    [1_000, "job started"],
    [1_010, "job completes: code 0"],
  ]);
});

it("forgets a completed process when its entry is removed", async () => {
  const fake = new FakeSupervisor({ job: () => ({ runs: 10, exit: { kind: "code", code: 0 } }) });
  fake.apply(manifest("job: { command: job, restart: Never }"));
  await fake.clock.step(1_000);
  fake.apply("processes: {}");
  await fake.clock.step(1_000);
  expect(fake.timeline().slice(-2)).toEqual([
    [10, "job completes: code 0"],
    [1_000, "job removed"],
  ]);
  expect(fake.phases()).toEqual({});
});

it("applies nothing after a shutdown, and shuts down once", async () => {
  const fake = new FakeSupervisor({ a: stays(0) });
  fake.apply(manifest("a: { command: a }"));
  await fake.clock.step(0);
  await fake.clock.run(() => fake.shutdown("first"));
  fake.apply(manifest("b: { command: b }"));
  await fake.clock.run(() => fake.shutdown("second"));
  expect(fake.phases()).toEqual({ a: "Stopped" });
  expect(fake.events.filter(({ type }) => type === "shutdown")).toHaveLength(1);
});

it("does not start a process that is stopped while its port is being found", async () => {
  const freePort = () => fake.clock.sleep(50).then(() => 4_000);
  const fake: FakeSupervisor = new FakeSupervisor({}, { freePort });
  fake.apply(manifest("web: { command: web, readiness: { http: auto } }"));
  await fake.clock.step(10);
  await fake.clock.run(() => fake.shutdown("test"));
  expect(fake.timeline()).toEqual([[50, "web stopped"]]);
  expect(fake.table.launches).toEqual([]);
});

it("keeps its phases legal if the stop arrives at any point of an exit", async () => {
  for (let turns = 0; turns < 30; turns++) {
    const fake = new FakeSupervisor({ a: stays(0) });
    fake.apply(manifest("a: { command: a }"));
    await fake.clock.step(0);
    fake.table.kill("a");
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    await fake.shutdown("test");
    expect(fake.phases()).toEqual({ a: "Stopped" });
    expect(fake.clock.waiters()).toBe(0);
  }
});

it("follows edits that arrive while a port is being found", async () => {
  const freePort = () => fake.clock.sleep(50).then(() => 4_000);
  const fake: FakeSupervisor = new FakeSupervisor({}, { freePort });
  const yaml = manifest("web: { command: web, readiness: { http: auto } }");
  fake.apply(yaml);
  await fake.clock.step(10);
  fake.apply(yaml.replace("command: web", "command: other"));
  await fake.clock.step(10);
  fake.apply(yaml);
  await fake.clock.step(100);
  expect(fake.table.launches.map(({ command }) => command)).toEqual(["web"]);
  expect(fake.phases()).toEqual({ web: "Running" });
});

it("reports a failed start, and tries again", async () => {
  let ports = 0;
  const freePort = async (): Promise<number> => {
    if (ports++ === 0) throw new Error("no port is free");
    return 4_000;
  };
  const fake = new FakeSupervisor({}, { freePort });
  fake.apply(manifest("web: { command: web, readiness: { http: auto } }"));
  await fake.clock.step(100);
  expect(fake.failures()).toEqual(["Error: no port is free"]);
  expect(fake.phases()).toEqual({ web: "Running" });
});

const HELD = `
grace: 3s
backoff: { duration: 4s, cap: 4s, jitter: 0 }
processes:
  db: { command: polite }
  web: { command: polite, dependsOn: { db: { condition: started, restart: true } } }
`;

it("keeps a process stopped until a restart, through edits and exits of others", async () => {
  const fake = new FakeSupervisor({ polite: stays(500), crash: () => ({ runs: 100 }) });
  fake.apply(HELD);
  await fake.clock.step(1_000);
  expect(fake.supervisor.stop("db")).toBe(true);
  await fake.clock.step(1_000);
  expect(fake.phases()).toEqual({ db: "Stopped", web: "Pending" });
  fake.apply(HELD.replace("db: { command: polite }", "db: { command: polite, args: [x] }"));
  await fake.clock.step(60_000);
  expect(fake.phases()).toEqual({ db: "Stopped", web: "Pending" });
  expect(fake.supervisor.restart("db")).toBe(true);
  await fake.clock.step(0);
  expect(fake.phases()).toEqual({ db: "Running", web: "Running" });
  expect(fake.timeline()).toEqual([
    [0, "db started"],
    [0, "web started"],
    [1_000, "db terminating (held)"],
    [1_000, "web terminating (dependency)"],
    [1_500, "db stopped: SIGTERM"],
    [1_500, "web stopped: SIGTERM"],
    [1_500, "web pending: db is not started yet"],
    [62_000, "db started"],
    [62_000, "web may start"],
    [62_000, "web started"],
  ]);
  await fake.clock.run(() => fake.shutdown("test"));
  expect(fake.clock.waiters()).toBe(0);
});

it("keeps a process stopped that crashed, is not ended by it, and forgets it with its entry", async () => {
  const fake = new FakeSupervisor({ polite: stays(0), crash: () => ({ runs: 0 }) });
  const entry = "db: { command: crash, backoff: { duration: 4s, cap: 4s, jitter: 0 } }";
  fake.apply(manifest(entry));
  await fake.clock.step(1_000);
  fake.supervisor.stop("db");
  await fake.clock.step(60_000);
  expect(fake.phases()).toEqual({ db: "Stopped" });
  expect(fake.events.filter(({ type }) => type === "finished")).toEqual([]);
  fake.apply(manifest("web: { command: polite }"));
  await fake.clock.step(0);
  expect(fake.phases()).toEqual({ web: "Running" });
  fake.apply(manifest(entry));
  await fake.clock.step(0);
  expect(fake.phases()).toMatchObject({ db: "CrashLoopBackOff" });
  await fake.clock.run(() => fake.shutdown("test"));
});

it("leaves a process as it is that has ended, and knows no other", async () => {
  const fake = new FakeSupervisor({ job: () => ({ runs: 10, exit: { kind: "code", code: 0 } }) });
  fake.apply(manifest("job: { command: job, restart: OnFailure }"));
  await fake.clock.step(100);
  expect([fake.supervisor.stop("job"), fake.supervisor.stop("no")]).toEqual([true, false]);
  await fake.clock.step(100);
  expect(fake.phases()).toEqual({ job: "Completed" });
  expect(fake.supervisor.restart("job")).toBe(true);
  await fake.clock.step(100);
  expect(fake.timeline().filter(([, what]) => what === "job started")).toHaveLength(2);
  await fake.clock.run(() => fake.shutdown("test"));
});
