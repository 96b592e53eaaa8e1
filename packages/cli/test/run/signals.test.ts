import { FakeClock } from "@holdfast/clock/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { onRunSignals } from "../../src/run/signals.ts";
import { signalsWith } from "../../src/signals.ts";

let clock: FakeClock;
let wishes: [number, string][];
let signals: Disposable;

function listen(hasTerminal: boolean): void {
  const wish = (name: string) => () => void wishes.push([clock.monotonic(), name]);
  signals = onRunSignals({
    clock,
    hasTerminal,
    onStop: wish("stop"),
    onKill: wish("kill"),
    onReload: wish("reload"),
  });
}

/** A signal for these listeners alone: the worker of the tests has others. */
function send(signal: NodeJS.Signals): void {
  process.listeners(signal).at(-1)?.(signal);
}

beforeEach(() => {
  clock = new FakeClock();
  wishes = [];
});

afterEach(() => signals[Symbol.dispose]());

describe.each(["SIGINT", "SIGTERM"] as const)("%s", (signal) => {
  it("stops, is the same wish for 1 s, and kills from then on", async () => {
    listen(false);
    const start = clock.monotonic();
    send(signal);
    send(signal);
    await clock.step(999);
    send(signal);
    expect(wishes).toEqual([[start, "stop"]]);
    await clock.step(1);
    send(signal);
    expect(wishes).toEqual([
      [start, "stop"],
      [start + 1_000, "kill"],
    ]);
  });
});

it.each([
  ["SIGQUIT", false, ["stop", "kill"]],
  ["SIGHUP", false, ["reload"]],
  ["SIGHUP", true, ["stop"]],
  ["SIGUSR1", false, []],
  ["SIGUSR2", false, []],
  ["SIGALRM", false, []],
  ["SIGWINCH", false, []],
  ["SIGPWR", false, ["stop"]],
  ["SIGABRT", false, ["stop"]],
] as const)("%s, on a terminal: %s, asks for %j", (signal, hasTerminal, expected) => {
  listen(hasTerminal);
  send(signal);
  expect(wishes.map(([, wish]) => wish)).toEqual(expected);
});

it("a closed terminal after a Ctrl-C kills nothing", async () => {
  listen(true);
  send("SIGINT");
  await clock.step(5_000);
  send("SIGHUP");
  expect(wishes.map(([, wish]) => wish)).toEqual(["stop"]);
});

it("leaves no listener", () => {
  const names = signalsWith("stop", "end", "pass", "none").filter((name) => name !== "SIGTSTP");
  const counts = () => names.map((name) => process.listenerCount(name));
  const before = counts();
  listen(false);
  expect(counts()).toEqual(before.map((count) => count + 1));
  signals[Symbol.dispose]();
  expect(counts()).toEqual(before);
});
