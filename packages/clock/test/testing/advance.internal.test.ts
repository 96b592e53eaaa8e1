import { afterEach, describe, expect, it, vi } from "vitest";
import { DeadlockError } from "../../src/testing/deadlock-error.ts";
import { eventLoop } from "../../src/testing/event-loop.ts";
import { FakeClock } from "../../src/testing/fake-clock.ts";

afterEach(() => vi.restoreAllMocks());

it.each([1, 2, 5])(
  "a drive of %i turns queues one immediate for each and one to end",
  async (n) => {
    const soon = vi.spyOn(eventLoop, "soon");
    await new FakeClock().step(1, { turns: n });
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(soon).toHaveBeenCalledTimes(n + 1);
  },
);

describe("a drive that nothing wakes", () => {
  /** Starts one; `calls` are to end the waits for its stall. */
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
    await vi.waitUntil(() => calls.length > 0);
    return { calls, cancelled, hold, outcome };
  };

  it("is given up when the wait for that ends in time", async () => {
    const { calls, outcome } = await park();
    calls[0]?.(19.9);
    expect(await outcome).toBeInstanceOf(DeadlockError);
    expect(calls).toHaveLength(1);
  });

  it("is given another wait, and no third, when the process stood still in the first", async () => {
    const { calls, outcome } = await park();
    calls[0]?.(20);
    expect(calls).toHaveLength(2);
    calls[1]?.(500);
    expect(await outcome).toBeInstanceOf(DeadlockError);
    expect(calls).toHaveLength(2);
  });

  it("goes on when something wakes it in the other wait, which it calls off", async () => {
    const { calls, cancelled, hold, outcome } = await park();
    calls[0]?.(20);
    hold[Symbol.dispose]();
    expect([await outcome, cancelled]).toEqual([undefined, new Set([1])]);
  });
});

it("a FakeClock polls for no timer: each is announced", async () => {
  const watch = vi.spyOn(eventLoop, "watch");
  const clock = new FakeClock();
  const run = clock.run(() => clock.waitForWaiters(1));
  eventLoop.later(5, () => clock.newTimer(10));
  await run;
  expect(watch).not.toHaveBeenCalled();
});
