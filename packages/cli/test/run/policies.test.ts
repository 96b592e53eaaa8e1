import { expect, it } from "vitest";
import { FakeSupervisor } from "./fake-supervisor.ts";

const crash = (code: number) => () => ({ runs: 100, exit: { kind: "code", code } }) as const;

it("fails after maxRestarts restarts in a row, and starts to count again after a long run", async () => {
  const fake = new FakeSupervisor({ web: (life) => ({ runs: life === 2 ? 3_000 : 100 }) });
  fake.apply(`processes:
  web: { command: web, maxRestarts: 2, backoff: { duration: 1s, cap: 1s, resetAfter: 2s } }`);
  await fake.clock.step(60_000);
  expect(fake.timeline().filter(([, what]) => !what.includes("waits"))).toEqual([
    [0, "web started"],
    [100, "web restarts: code 1"],
    [1_100, "web started"],
    [4_100, "web restarts: code 1"],
    [5_100, "web started"],
    [5_200, "web restarts: code 1"],
    [6_200, "web started"],
    [6_300, "web fails: code 1"],
  ]);
});

it.each([
  { policy: "success: [0, 143]", code: 143, phase: "Completed" },
  { policy: "success: [3]", code: 0, phase: "CrashLoopBackOff" },
  { policy: "final: [78]", code: 78, phase: "Failed" },
  { policy: "final: [78]", code: 77, phase: "CrashLoopBackOff" },
])("follows $policy after code $code", async ({ policy, code, phase }) => {
  const fake = new FakeSupervisor({ job: crash(code) });
  fake.apply(`processes: { job: { command: job, restart: OnFailure, ${policy} } }`);
  await fake.clock.step(500);
  expect(fake.phases()).toEqual({ job: phase });
});

it("does not start a disabled process, and reads envFile below env", async () => {
  const fake = new FakeSupervisor({});
  fake.apply("processes: { a: { command: x, disabled: true }, b: { command: x } }");
  await fake.clock.step(0);
  expect(fake.phases()).toEqual({ b: "Running" });
});

const CHAIN = `
processes:
  db: { command: db, restart: OnFailure, backoff: { duration: 1s } }
  web: { command: web, dependsOn: { db: completed } }
  top: { command: top, dependsOn: { web: started } }
`;

it("starts a process when its conditions are met; a restart is not yet", async () => {
  const lives = [1, 0];
  const fake = new FakeSupervisor({
    db: () => ({ runs: 100, exit: { kind: "code", code: lives.shift() ?? 0 } }),
  });
  fake.apply(CHAIN);
  await fake.clock.step(10_000);
  expect(fake.timeline()).toEqual([
    [0, "db started"],
    [0, "web pending: db is not completed yet"],
    [0, "top pending: web is not started yet"],
    [100, "db restarts: code 1"],
    [100, "db waits 1000"],
    [1_100, "db started"],
    [1_200, "db completes: code 0"],
    [1_200, "web may start"],
    [1_200, "web started"],
    [1_200, "top may start"],
    [1_200, "top started"],
  ]);
});

it("keeps dependents of a failed process pending, with the reason, and ends with 1", async () => {
  const fake = new FakeSupervisor({ db: crash(3) });
  fake.apply(CHAIN.replace("OnFailure", "Never"));
  await fake.clock.step(200);
  expect(fake.timeline().slice(3)).toEqual([
    [100, "db fails: code 3"],
    [100, "web pending: db has failed"],
    [100, "top pending: web cannot start: db has failed"],
  ]);
  expect(fake.events.flatMap((event) => (event.type === "finished" ? [event.code] : []))).toEqual([
    1,
  ]);
});

it("stops a process whose program changes with the grace of its old life", async () => {
  const fake = new FakeSupervisor({ web: () => ({ afterTerm: Number.POSITIVE_INFINITY }) });
  fake.apply("processes: { web: { command: web, grace: 5s } }");
  await fake.clock.step(1_000);
  fake.apply("processes: { web: { command: web, args: [new], grace: 1s } }");
  await fake.clock.step(10_000);
  expect(fake.timeline().slice(1)).toEqual([
    [1_000, "web terminating (changed)"],
    [6_000, "web killing"],
    [6_000, "web stopped: SIGKILL"],
    [6_000, "web started"],
  ]);
});
