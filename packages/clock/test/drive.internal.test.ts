import { afterEach, expect, it, vi } from "vitest";
import { eventLoop } from "../src/testing/event-loop.ts";
import { FakeClock } from "../src/testing/fake-clock.ts";

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

it("a FakeClock polls for no timer: each is announced", async () => {
  const watch = vi.spyOn(eventLoop, "watch");
  const clock = new FakeClock();
  const run = clock.run(() => clock.waitForWaiters(1));
  eventLoop.later(5, () => clock.newTimer(10));
  await run;
  expect(watch).not.toHaveBeenCalled();
});
