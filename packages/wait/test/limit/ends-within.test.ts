import { FakeClock } from "@holdfast/clock/testing";
import { endsWithin } from "@holdfast/wait/limit";
import { beforeEach, describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";

let clock: FakeClock;
let start: number;
let stop: AbortController;
/** What happened, and when. */
let seen: [number, unknown][];

beforeEach(() => {
  clock = new FakeClock();
  start = clock.monotonic();
  stop = new AbortController();
  seen = [];
});

const tell = (what: unknown): void => void seen.push([clock.monotonic() - start, what]);

/** Waits for work that takes 100 ms, until its signal aborts. */
async function wait(timeout: number, work = sleep): Promise<void> {
  const limits = { clock, signal: stop.signal, label: "test" };
  await endsWithin(work, timeout, limits).then(tell, tell);
  expect(clock.waiters()).toBe(0);
  expect(abortListeners(stop.signal)).toBe(0);
}

async function sleep(signal: AbortSignal): Promise<void> {
  tell("begins");
  await clock.sleep(100, { signal });
}

describe("endsWithin", () => {
  it.each<{ name: string; timeout: number; want: [number, unknown][] }>([
    {
      name: "work in time",
      timeout: 101,
      want: [
        [0, "begins"],
        [100, true],
      ],
    },
    {
      name: "any work without a limit",
      timeout: Infinity,
      want: [
        [0, "begins"],
        [100, true],
      ],
    },
    {
      name: "no work that takes longer, whose signal aborts",
      timeout: 99,
      want: [
        [0, "begins"],
        [99, false],
      ],
    },
    { name: "no work within 0, which is not called", timeout: 0, want: [[0, false]] },
  ])("$name", async ({ timeout, want }) => {
    await clock.run(() => wait(timeout));
    expect(seen).toEqual(want);
  });

  it("rejects with an error of the work, also with a timeout of its own", async () => {
    for (const error of [new Error("broken"), new DOMException("late", "TimeoutError")]) {
      await clock.run(() => wait(50, () => Promise.reject(error)));
      expect(seen.splice(0)).toEqual([[0, error]]);
    }
  });

  it("rejects with the reason of its signal, at once", async () => {
    const waiting = wait(99);
    await clock.step(50);
    stop.abort("over");
    await waiting;
    expect(seen).toEqual([
      [0, "begins"],
      [50, "over"],
    ]);
  });
});
