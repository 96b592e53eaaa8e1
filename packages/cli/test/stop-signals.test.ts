import { FakeClock } from "@holdfast/clock/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { signalsWith } from "../src/signals.ts";
import { StopSignals } from "../src/stop-signals.ts";

const GRACE = 10_000;

let clock: FakeClock;
let events: string[];
let stops: StopSignals;

function listen(keepsTerminal = false): void {
  const ignore = (): void => undefined;
  const output = { error: ignore, info: (line: string) => void events.push(line), detail: ignore };
  stops = new StopSignals({ grace: GRACE, keepsTerminal, clock, output });
}

const group = {
  signal: (name: NodeJS.Signals) => void events.push(name),
  kill: () => void events.push("kill"),
  killAfter: async (grace: number) => void events.push(`kill after ${grace}`),
};

/** Runs a command that goes on until the end of the test. */
function run(): void {
  void stops.during(group, () => new Promise(() => undefined));
}

/** A signal for these listeners alone: the worker of the tests has others. */
function send(signal: NodeJS.Signals): void {
  process.listeners(signal).at(-1)?.(signal);
}

beforeEach(() => {
  clock = new FakeClock();
  events = [];
});

afterEach(() => stops[Symbol.dispose]());

describe.each(["SIGINT", "SIGTERM"] as const)("%s", (signal) => {
  it("reaches the command, is the same wish for 1 s, and kills from then on", async () => {
    listen();
    run();
    send(signal);
    send(signal);
    await clock.step(999);
    send(signal);
    expect(events).toEqual([signal, `kill after ${GRACE}`]);
    await clock.step(1);
    send(signal);
    expect(events.slice(2)).toEqual([`second ${signal}: killing the command`, "kill"]);
    expect(stops.stoppedBy).toBe(signal);
  });

  it("kills after another one, 1 s later", async () => {
    listen();
    run();
    const first = signal === "SIGINT" ? "SIGTERM" : "SIGINT";
    send(first);
    events = [];
    await clock.step(1_000);
    send(signal);
    expect(events).toEqual([signal, `second ${signal}: killing the command`, "kill"]);
    expect(stops.stoppedBy).toBe(first);
  });
});

it.each([
  ["SIGQUIT", ["SIGQUIT", `kill after ${GRACE}`, "SIGQUIT"], "SIGQUIT"],
  ["SIGHUP", ["SIGHUP", "SIGHUP"], "SIGHUP"],
  ["SIGUSR1", ["SIGUSR1", "SIGUSR1"], undefined],
  ["SIGUSR2", ["SIGUSR2", "SIGUSR2"], undefined],
  ["SIGWINCH", ["SIGWINCH", "SIGWINCH"], undefined],
  ["SIGALRM", ["SIGALRM", "SIGALRM"], undefined],
  ["SIGPROF", [], undefined],
] as const)("%s twice, 1 s apart, gives the command %j", async (signal, expected, stoppedBy) => {
  listen();
  run();
  send(signal);
  await clock.step(1_000);
  send(signal);
  expect(events).toEqual(expected);
  expect(stops.stoppedBy).toBe(stoppedBy);
  expect(stops.idle.aborted).toBe(false);
});

it.each([
  ["SIGINT", [`kill after ${GRACE}`]],
  ["SIGQUIT", [`kill after ${GRACE}`]],
  ["SIGHUP", []],
  ["SIGTERM", ["SIGTERM", `kill after ${GRACE}`]],
  ["SIGUSR1", ["SIGUSR1"]],
  ["SIGALRM", ["SIGALRM"]],
  ["SIGWINCH", []],
  ["SIGCONT", []],
] as const)("%s is left to the terminal if the command keeps it: %j", (signal, expected) => {
  listen(true);
  run();
  send(signal);
  expect(events).toEqual(expected);
});

it.each([
  ["SIGINT", true],
  ["SIGTERM", true],
  ["SIGQUIT", true],
  ["SIGHUP", true],
  ["SIGUSR1", false],
  ["SIGUSR2", false],
  ["SIGWINCH", false],
  ["SIGPWR", true],
  ["SIGALRM", true],
] as const)("%s between two commands stops: %s", async (signal, isStopped) => {
  listen();
  await stops.during(group, async () => undefined);
  send(signal);
  expect(stops.idle.aborted).toBe(isStopped);
  expect(stops.stoppedBy).toBe(isStopped ? signal : undefined);
  expect(events).toEqual([]);
});

it("kills at the second SIGTERM also what began to stop after the first", async () => {
  listen();
  send("SIGTERM");
  run();
  await clock.step(999);
  send("SIGTERM");
  expect(events).toEqual([]);
  await clock.step(1_000);
  send("SIGTERM");
  expect(events.slice(-2)).toEqual(["second SIGTERM: killing the command", "kill"]);
});

it("leaves SIGTSTP to the system on a terminal: it suspends holdfast, too", () => {
  const before = process.listenerCount("SIGTSTP");
  listen(true);
  expect(process.listenerCount("SIGTSTP")).toBe(before);
});

it("hands on each signal that does not ask to stop, however soon it comes again", () => {
  listen();
  run();
  send("SIGUSR1");
  send("SIGUSR1");
  send("SIGCONT");
  expect(events).toEqual(["SIGUSR1", "SIGUSR1", "SIGCONT"]);
});

it("leaves no listener", () => {
  const names = signalsWith("stop", "end", "pass", "none");
  const counts = () => names.map((name) => process.listenerCount(name));
  const before = counts();
  listen();
  expect(counts()).toEqual(before.map((count) => count + 1));
  stops[Symbol.dispose]();
  expect(counts()).toEqual(before);
});
