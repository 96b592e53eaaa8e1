import { onAbort } from "@holdfast/clock";
import { expect, it } from "vitest";
import type { BoundProbe, Probe } from "../../src/run/core/machine.ts";
import { NOT_READY, nextReadiness, type Readiness } from "../../src/run/core/probes.ts";
import { FakeSupervisor } from "./fake-supervisor.ts";

const WEB = `
processes:
  web:
    command: web
    readiness: { http: auto, path: /healthz, period: 1s, timeout: 300ms, failures: 2 }
`;

const READY: Readiness = { ready: true, failures: 0 };

it.each([
  { name: "an answer makes ready", state: NOT_READY, answered: true, want: READY },
  {
    name: "a failure leaves a process unready",
    state: NOT_READY,
    answered: false,
    want: { ready: false, failures: 1 },
  },
  {
    name: "the first failure is forgiven",
    state: READY,
    answered: false,
    want: { ready: true, failures: 1 },
  },
  {
    name: "the second in a row is not",
    state: { ready: true, failures: 1 },
    answered: false,
    want: { ready: false, failures: 2 },
  },
  {
    name: "an answer in between clears the count",
    state: { ready: true, failures: 1 },
    answered: true,
    want: READY,
  },
])("$name", ({ state, answered, want }) => {
  expect(nextReadiness(state, answered, 2)).toEqual(want);
});

it("probes the port that the process was given", async () => {
  const asked: BoundProbe[] = [];
  const probe: Probe = (bound) => async () => void asked.push(bound);
  const fake = new FakeSupervisor({}, { probe, freePort: async () => 4_321 });
  fake.apply(WEB);
  await fake.clock.step(0);
  expect(asked.map(({ target }) => target)).toEqual([
    { kind: "http", port: 4_321, path: "/healthz" },
  ]);
  expect(fake.table.launches[0]?.env).toEqual({ PORT: "4321" });
});

/** Answers with each of these in turn: a reason, `ok`, or nothing at all. */
function scripted(...answers: string[]): Probe {
  return () => async (signal) => {
    const answer = answers.shift();
    if (answer === "hangs") await new Promise((_, reject) => onAbort(signal, reject));
    if (answer !== "ok") throw new Error(answer);
  };
}

it("reports each change of readiness and of its reason, and counts no response as not ready", async () => {
  const answers = ["HTTP 503", "HTTP 503", "refused", "ok", "hangs", "ok", "refused", "refused"];
  const fake = new FakeSupervisor({}, { probe: scripted(...answers, "ok") });
  fake.apply(WEB);
  // The hanging question lasts its timeout; the period counts from its end.
  await fake.clock.step(8_300);
  expect(fake.timeline()).toEqual([
    [0, "web started"],
    [0, "web unready: HTTP 503"],
    [2_000, "web unready: refused"],
    [3_000, "web ready"],
    [7_300, "web unready: refused"],
    [8_300, "web ready"],
  ]);
});

it("stops probing when the process ends", async () => {
  const fake = new FakeSupervisor(
    { web: () => ({ runs: 100 }) },
    { probe: scripted("hangs", "hangs") },
  );
  fake.apply(WEB);
  await fake.clock.step(100);
  expect(fake.timeline().at(-1)).toEqual([100, "web waits 1000"]);
  expect(fake.clock.pending()).toHaveLength(1);
});

it("restarts a process whose liveness fails as often in a row as allowed", async () => {
  const answers = ["HTTP 500", "ok", "HTTP 500", "HTTP 500", "ok"];
  const fake = new FakeSupervisor(
    { web: () => ({ afterTerm: 50 }) },
    { probe: scripted(...answers) },
  );
  fake.apply(WEB.replace("readiness", "liveness"));
  await fake.clock.step(4_100);
  expect(fake.timeline()).toEqual([
    [0, "web started"],
    [3_000, "web unhealthy: liveness: http://127.0.0.1:4000/healthz: HTTP 500"],
    [3_050, "web restarts: SIGTERM"],
    [3_050, "web waits 1000"],
    [4_050, "web started"],
  ]);
});

it("asks for readiness after the first success of startup only", async () => {
  const asked: string[] = [];
  const probe: Probe =
    ({ target }) =>
    async () => {
      asked.push(target.kind);
      if (target.kind === "tcp" && asked.length < 3) throw new Error("refused");
    };
  const fake = new FakeSupervisor({}, { probe });
  fake.apply(`${WEB}    startup: { tcp: auto, period: 1s }\n`);
  await fake.clock.step(2_000);
  expect(asked).toEqual(["tcp", "tcp", "tcp", "http"]);
  expect(fake.timeline()).toEqual([
    [0, "web started"],
    [2_000, "web ready"],
  ]);
});

it("does not take a stranger on its port for the process", async () => {
  let isFree = false;
  const fake = new FakeSupervisor({}, { isTaken: async () => !isFree });
  fake.apply(WEB.replace("auto", "8080"));
  await fake.clock.step(500);
  isFree = true;
  await fake.clock.step(500);
  expect(fake.timeline()).toEqual([
    [0, "web restarts: port 8080 is taken by another process: stop it, or change the port"],
    [0, "web waits 1000"],
    [1_000, "web started"],
    [1_000, "web ready"],
  ]);
});

it("starts no process whose directory or program is on a file system that does not answer", async () => {
  let silent = ["/app", "/app/bin/web"];
  const isSilent = async (path: string): Promise<boolean> => silent.includes(path);
  const fake = new FakeSupervisor({}, { isSilent });
  fake.apply("processes: { web: { command: bin/web, cwd: /app } }");
  await fake.clock.step(500);
  silent = silent.slice(1);
  await fake.clock.step(2_000);
  silent = [];
  await fake.clock.step(2_000);
  expect(fake.timeline()).toEqual([
    [0, "web restarts: the file system of /app does not answer"],
    [0, "web waits 1000"],
    [1_000, "web restarts: the file system of /app/bin/web does not answer"],
    [1_000, "web waits 2000"],
    [3_000, "web started"],
  ]);
});

it("restarts a process with its descendants when they take too much memory", async () => {
  const fake = new FakeSupervisor({ web: (life) => ({ memory: life === 1 ? 2 ** 31 : 0 }) });
  fake.apply("processes: { web: { command: web, maxMemory: 1Gi } }");
  await fake.clock.step(1_000);
  expect(fake.timeline()).toEqual([
    [0, "web started"],
    [0, "web unhealthy: memory: 2048 MiB, more than 1024 MiB"],
    [0, "web restarts: SIGTERM"],
    [0, "web waits 1000"],
    [1_000, "web started"],
  ]);
});
