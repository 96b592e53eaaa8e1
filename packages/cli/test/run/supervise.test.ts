import { expect, it } from "vitest";
import { FakeSupervisor } from "./fake-supervisor.ts";

const CRASHER = `
processes:
  crasher:
    command: crash
    backoff: { duration: 1s, factor: 2, cap: 4s, resetAfter: 10s }
`;

const FOR_EVER = Number.POSITIVE_INFINITY;

it("restarts a crashed process after delays that grow to the cap", async () => {
  const fake = new FakeSupervisor({ crash: () => ({ runs: 100 }) });
  fake.apply(CRASHER);
  await fake.clock.step(11_400);
  expect(fake.timeline()).toEqual([
    [0, "crasher started"],
    [100, "crasher restarts: code 1"],
    [100, "crasher waits 1000"],
    [1_100, "crasher started"],
    [1_200, "crasher restarts: code 1"],
    [1_200, "crasher waits 2000"],
    [3_200, "crasher started"],
    [3_300, "crasher restarts: code 1"],
    [3_300, "crasher waits 4000"],
    [7_300, "crasher started"],
    [7_400, "crasher restarts: code 1"],
    [7_400, "crasher waits 4000"],
    [11_400, "crasher started"],
  ]);
});

it("waits the kubelet's ten seconds, doubled each time, on request", async () => {
  const fake = new FakeSupervisor({ crash: () => ({ runs: 0 }) });
  fake.apply("processes: { crasher: { command: crash, backoff: kubelet } }");
  await fake.clock.step(1_000_000);
  const waits = fake.events.flatMap((event) => (event.type === "waiting" ? [event.delay] : []));
  expect(waits).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000]);
});

// The manager measures from one exit to the next: the wait of 1 s and the run of 9 s or more.
it.each([
  { name: "grows after a run that ends with resetAfter", runs: 9_000, want: [1_000, 2_000] },
  { name: "starts over after 1 µs more", runs: 9_000.001, want: [1_000, 1_000] },
])("$name", async ({ runs, want }) => {
  const fake = new FakeSupervisor({ crash: (life) => ({ runs: life === 1 ? 0 : runs }) });
  fake.apply(CRASHER);
  await fake.clock.step(11_000);
  const waits = fake.events.flatMap((event) => (event.type === "waiting" ? [event.delay] : []));
  expect(waits).toEqual(want);
});

it("restarts a process that was killed by hand after the planned delay", async () => {
  const fake = new FakeSupervisor({ crash: () => ({ runs: FOR_EVER }) });
  fake.apply(CRASHER);
  await fake.clock.step(5_000);
  fake.table.kill("crasher");
  await fake.clock.step(999);
  expect(fake.table.alive()).toEqual([]);
  await fake.clock.step(1);
  expect(fake.timeline()).toEqual([
    [0, "crasher started"],
    [5_000, "crasher restarts: SIGKILL"],
    [5_000, "crasher waits 1000"],
    [6_000, "crasher started"],
  ]);
});

it("starts nothing early because of a reverted edit", async () => {
  const fake = new FakeSupervisor({ crash: () => ({ runs: 100 }) });
  fake.apply(CRASHER);
  await fake.clock.step(600);
  fake.apply(CRASHER.replace("4s", "5s"));
  fake.apply(CRASHER);
  await fake.clock.step(499);
  expect(fake.table.launches).toHaveLength(1);
  await fake.clock.step(1);
  expect(fake.timeline()).toEqual([
    [0, "crasher started"],
    [100, "crasher restarts: code 1"],
    [100, "crasher waits 1000"],
    [1_100, "crasher started"],
  ]);
});

it("starts over, and at once, when the program of a crashed process changes", async () => {
  const fake = new FakeSupervisor({ crash: () => ({ runs: 100 }) });
  fake.apply(CRASHER);
  await fake.clock.step(1_500);
  fake.apply(CRASHER.replace("command: crash", "command: crash\n    args: [x]"));
  await fake.clock.step(1_100);
  expect(fake.timeline().slice(4)).toEqual([
    [1_200, "crasher restarts: code 1"],
    [1_200, "crasher waits 2000"],
    [1_500, "crasher stopped"],
    [1_500, "crasher started"],
    [1_600, "crasher restarts: code 1"],
    [1_600, "crasher waits 1000"],
    [2_600, "crasher started"],
  ]);
});

interface PolicyCase {
  readonly policy: string;
  readonly code: number;
  readonly want: readonly [number, string][];
  readonly phase: string;
}

it.each<PolicyCase>([
  {
    policy: "Always",
    code: 0,
    want: [
      [0, "job started"],
      [100, "job restarts: code 0"],
      [100, "job waits 10000"],
    ],
    phase: "CrashLoopBackOff",
  },
  {
    policy: "OnFailure",
    code: 0,
    want: [
      [0, "job started"],
      [100, "job completes: code 0"],
    ],
    phase: "Completed",
  },
  {
    policy: "OnFailure",
    code: 7,
    want: [
      [0, "job started"],
      [100, "job restarts: code 7"],
      [100, "job waits 10000"],
    ],
    phase: "CrashLoopBackOff",
  },
  {
    policy: "Never",
    code: 0,
    want: [
      [0, "job started"],
      [100, "job completes: code 0"],
    ],
    phase: "Completed",
  },
  {
    policy: "Never",
    code: 7,
    want: [
      [0, "job started"],
      [100, "job fails: code 7"],
    ],
    phase: "Failed",
  },
])("follows the policy $policy after code $code", async ({ policy, code, want, phase }) => {
  const fake = new FakeSupervisor({ job: () => ({ runs: 100, exit: { kind: "code", code } }) });
  fake.apply(`processes: { job: { command: job, restart: ${policy}, backoff: kubelet } }`);
  await fake.clock.step(5_000);
  expect(fake.timeline()).toEqual(want);
  expect(fake.phases()).toEqual({ job: phase });
});

it("backs off when a program cannot be started, and runs it when it can", async () => {
  const fake = new FakeSupervisor({
    crash: (life) => (life < 3 ? { unstartable: "crash was not found" } : { runs: FOR_EVER }),
  });
  fake.apply(CRASHER);
  await fake.clock.step(10_000);
  expect(fake.timeline()).toEqual([
    [0, "crasher restarts: crash was not found"],
    [0, "crasher waits 1000"],
    [1_000, "crasher restarts: crash was not found"],
    [1_000, "crasher waits 2000"],
    [3_000, "crasher started"],
  ]);
  expect(fake.statuses.get("crasher")?.waits).toEqual([
    { planned: 1_000, measured: 1_000 },
    { planned: 2_000, measured: 2_000 },
  ]);
});

it("fails a program that cannot be started and has the policy Never", async () => {
  const fake = new FakeSupervisor({ crash: () => ({ unstartable: "crash was not found" }) });
  fake.apply("processes: { job: { command: crash, restart: Never } }");
  await fake.clock.step(10_000);
  expect(fake.timeline()).toEqual([[0, "job fails: crash was not found"]]);
  expect(fake.phases()).toEqual({ job: "Failed" });
});

it("passes on command, arguments, environment and directory", async () => {
  const fake = new FakeSupervisor({});
  fake.apply(`processes: { job: { command: job, args: [-v], env: { A: "1" }, cwd: /somewhere } }`);
  await fake.clock.step(0);
  expect(fake.table.launches).toEqual([
    {
      name: "job",
      command: "job",
      args: ["-v"],
      env: { A: "1" },
      cwd: "/somewhere",
      grace: 10_000,
    },
  ]);
});
