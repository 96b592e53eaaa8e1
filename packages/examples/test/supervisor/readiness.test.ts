import { onAbort } from "@holdfast/clock";
import { expect, it } from "vitest";
import { NOT_READY, nextReadiness, type Readiness } from "../../src/supervisor/core/readiness.ts";
import { FakeSupervisor } from "./fake-supervisor.ts";

const WEB = `
processes:
  web:
    command: web
    readiness: { port: auto, path: /healthz, period: 1s, timeout: 300ms, failures: 2 }
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
  const asked: string[] = [];
  const probe = async (url: string): Promise<boolean> => asked.push(url) > 0;
  const fake = new FakeSupervisor({}, { probe, freePort: async () => 4_321 });
  fake.apply(WEB);
  await fake.clock.step(0);
  expect(asked).toEqual(["http://127.0.0.1:4321/healthz"]);
  expect(fake.table.launches[0]?.env).toEqual({ PORT: "4321" });
});

it("reports each change of readiness, and counts no response as not ready", async () => {
  const answers = [false, true, "hangs", true, false, false, true];
  const probe = async (_url: string, signal: AbortSignal): Promise<boolean> => {
    const answer = answers.shift();
    if (typeof answer === "boolean") return answer;
    return await new Promise((resolve) => onAbort(signal, () => resolve(false)));
  };
  const fake = new FakeSupervisor({}, { probe });
  fake.apply(WEB);
  // The hanging question lasts its timeout; the period counts from its end.
  await fake.clock.step(6_300);
  expect(fake.timeline()).toEqual([
    [0, "web started"],
    [1_000, "web ready"],
    [5_300, "web unready"],
    [6_300, "web ready"],
  ]);
});

it("stops probing when the process ends", async () => {
  const probe = (_url: string, signal: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => onAbort(signal, () => resolve(false)));
  const fake = new FakeSupervisor({ web: () => ({ runs: 100 }) }, { probe });
  fake.apply(WEB);
  await fake.clock.step(100);
  expect(fake.timeline().at(-1)).toEqual([100, "web waits 10000"]);
  expect(fake.clock.pending()).toHaveLength(1);
});
