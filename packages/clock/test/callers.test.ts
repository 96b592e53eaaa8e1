import { realClock } from "@holdfast/clock";
import { DeadlockError, FakeClock, LivelockError } from "@holdfast/clock/testing";
import { describe, expect, it } from "vitest";
import { BOTH, callersOf } from "../../../test/callers.ts";

const never = (): Promise<never> => new Promise(() => {});

async function fail(before: Promise<unknown>): Promise<never> {
  await before;
  throw new Error("inside");
}

describe("the stack of an error shows the callers", () => {
  it.each([
    ["at once", () => fail(Promise.resolve())],
    ["after a sleep", (clock: FakeClock) => fail(clock.sleep(10))],
  ])("run, when the function fails %s", async (_, work) => {
    const clock = new FakeClock();
    const { error, callers } = await callersOf(() => clock.run(() => work(clock)));
    expect([(error as Error).message, callers]).toEqual(["inside", BOTH]);
  });

  it("external, when the work fails", async () => {
    const clock = new FakeClock();
    const work = () => clock.external(fail(realClock.sleep(1)));
    const { callers } = await callersOf(async () => await clock.run(work));
    expect(callers).toEqual(BOTH);
  });

  it("run, when it is stuck", async () => {
    const clock = new FakeClock();
    const { error, callers } = await callersOf(() => clock.run(never, { stallMs: 1 }));
    expect([error instanceof DeadlockError, callers]).toEqual([true, BOTH]);
  });

  it("step, when it is stuck", async () => {
    const clock = new FakeClock();
    clock.hold();
    const { error, callers } = await callersOf(() => clock.step(1, { stallMs: 1 }));
    expect([error instanceof DeadlockError, callers]).toEqual([true, BOTH]);
  });

  it("run, when it does not end", async () => {
    const clock = new FakeClock();
    const endless = async () => {
      for (;;) await clock.sleep(1);
    };
    const { error, callers } = await callersOf(() => clock.run(endless, { maxTimers: 5 }));
    expect([error instanceof LivelockError, callers]).toEqual([true, BOTH]);
  });
});

it("an aborted sleep rejects with the reason itself, whose stack stays as it was", async () => {
  const stop = new AbortController();
  const reason = new Error("bye");
  const { stack } = reason;
  const { error } = await callersOf(() => {
    queueMicrotask(() => stop.abort(reason));
    return realClock.sleep(1_000, { signal: stop.signal });
  });
  expect(error).toBe(reason);
  expect(reason.stack).toBe(stack);
});
