import { afterEach, describe, expect, it, vi } from "vitest";
import { DeadlockError } from "../../src/testing/deadlock-error.ts";
import { eventLoop } from "../../src/testing/event-loop.ts";
import { FakeClock } from "../../src/testing/fake-clock.ts";

afterEach(() => vi.restoreAllMocks());

it.each([1, 2, 5])("a step of %i turns queues one immediate for each and one to end", async (n) => {
  const soon = vi.spyOn(eventLoop, "soon");
  await new FakeClock().step(1, { turns: n });
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(soon).toHaveBeenCalledTimes(n + 1);
});

describe("a parked step", () => {
  /** Starts one; `calls` end its stall timers. */
  const park = async () => {
    const calls: ((late: number) => void)[] = [];
    const cancelled = new Set<number>();
    vi.spyOn(eventLoop, "later").mockImplementation((_, call) => {
      const index = calls.push(call) - 1;
      return () => void cancelled.add(index);
    });
    const clock = new FakeClock();
    const hold = clock.hold();
    const outcome = clock.step(1).catch((error: unknown) => error);
    await expect.poll(() => calls).not.toEqual([]);
    return { calls, cancelled, hold, outcome };
  };

  it("rejects when the stall timer is on time", async () => {
    const { calls, outcome } = await park();
    calls[0]?.(19.9);
    expect(await outcome).toBeInstanceOf(DeadlockError);
    expect(calls).toHaveLength(1);
  });

  it("waits a second time, and not a third, if the process was blocked during the first", async () => {
    const { calls, outcome } = await park();
    calls[0]?.(20);
    expect(calls).toHaveLength(2);
    calls[1]?.(500);
    expect(await outcome).toBeInstanceOf(DeadlockError);
    expect(calls).toHaveLength(2);
  });

  it("continues when it is woken in the second wait, and cancels that", async () => {
    const { calls, cancelled, hold, outcome } = await park();
    calls[0]?.(20);
    hold[Symbol.dispose]();
    expect([await outcome, cancelled]).toEqual([undefined, new Set([1])]);
  });
});

it("a FakeClock does not poll for timers", async () => {
  const watch = vi.spyOn(eventLoop, "watch");
  const clock = new FakeClock();
  const run = clock.run(() => clock.waitForWaiters(1));
  eventLoop.later(5, () => clock.newTimer(10));
  await run;
  expect(watch).not.toHaveBeenCalled();
});
