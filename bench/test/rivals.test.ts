import { getEventListeners } from "node:events";
import { setTimeout as nodeSleep } from "node:timers/promises";
import { realClock } from "@holdfast/clock";
import { backoffUntil, retry as holdfastRetry, JitteredBackoffManager } from "@holdfast/wait";
import asyncRetry from "async-retry";
import { ConstantBackoff, handleAll, retry } from "cockatiel";
import { Effect, Schedule } from "effect";
import { backOff } from "exponential-backoff";
import pRetry from "p-retry";
import { defer, firstValueFrom, retry as retryOperator } from "rxjs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

// The table of rivals in docs/comparison.md, row by row. A row that turns red because a rival got better is
// good news: change the page.

type Fail = () => Promise<never>;
type Wait = (f: Fail, delay: number, signal: AbortSignal) => Promise<unknown>;

/** Calls a function that fails, waits, and calls it again, up to five times. */
const waits = {
  Holdfast: (f, delay, signal) =>
    backoffUntil(f, new JitteredBackoffManager({ duration: delay }), true, signal, {
      onError: () => {},
    }),
  "Holdfast, retry": (f, delay, signal) =>
    holdfastRetry(f, { retries: 5, backoff: { duration: delay }, signal }),
  "p-retry": (f, delay, signal) => pRetry(f, { retries: 5, minTimeout: delay, factor: 1, signal }),
  cockatiel: (f, delay, signal) =>
    retry(handleAll, { maxAttempts: 5, backoff: new ConstantBackoff(delay) }).execute(f, signal),
  effect: (f, delay, signal) => {
    const schedule = Schedule.spaced(delay);
    return Effect.runPromise(Effect.retry(Effect.tryPromise(f), { times: 5, schedule }), {
      signal,
    });
  },
  "exponential-backoff": (f, delay) =>
    backOff(f, { numOfAttempts: 6, startingDelay: delay, maxDelay: delay, timeMultiple: 1 }),
  "async-retry": (f, delay) =>
    asyncRetry(f, { retries: 5, minTimeout: delay, factor: 1, randomize: false }),
  rxjs: (f, delay) => firstValueFrom(defer(f).pipe(retryOperator({ count: 5, delay }))),
} satisfies Record<string, Wait>;

type Rival = keyof typeof waits;

let calls: number;
const fail: Fail = () => {
  calls++;
  return Promise.reject(new Error("refused"));
};

beforeEach(() => {
  calls = 0;
  vi.spyOn(process, "emitWarning").mockImplementation(() => {});
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe("an abort during a wait", () => {
  // Waits that end at once are long, so that no pause of the machine is as long.
  it.each<{ rival: Rival; wait: number; ends: string; callsAfter: number }>([
    { rival: "Holdfast", wait: 25_000, ends: "at once, resolved", callsAfter: 0 },
    { rival: "Holdfast, retry", wait: 25_000, ends: "at once, with the reason", callsAfter: 0 },
    { rival: "p-retry", wait: 25_000, ends: "at once, with the reason", callsAfter: 0 },
    { rival: "effect", wait: 25_000, ends: "at once, with another error", callsAfter: 0 },
    { rival: "cockatiel", wait: 1_000, ends: "after the wait, with another error", callsAfter: 1 },
  ])("of $wait ms ends $rival $ends", async ({ rival, wait, ends, callsAfter }) => {
    const stop = new AbortController();
    const reason = new Error("stop");
    const begun = realClock.monotonic();
    const end = waits[rival](fail, wait, stop.signal).then(
      () => "resolved",
      (error: unknown) => (error === reason ? "with the reason" : "with another error"),
    );
    await realClock.sleep(20);
    const callsBefore = calls;
    stop.abort(reason);
    const how = await end;
    // A timer of Node may be a millisecond early.
    const when = realClock.monotonic() - begun < wait - 1 ? "at once" : "after the wait";
    expect({ ends: `${when}, ${how}`, callsAfter: calls - callsBefore }).toEqual({
      ends,
      callsAfter,
    });
  });

  it("ends a sleep of Holdfast with the reason, and one of Node with another error", async () => {
    const stop = new AbortController();
    const reason = new Error("stop");
    const sleeps = [
      realClock.sleep(200, { signal: stop.signal }),
      nodeSleep(200, undefined, { signal: stop.signal }),
    ];
    stop.abort(reason);
    const [ours, nodes] = await Promise.allSettled(sleeps);
    expect(ours).toEqual({ status: "rejected", reason });
    expect(nodes).toMatchObject({
      status: "rejected",
      reason: { name: "AbortError", cause: reason },
    });
  });
});

describe("a wait of 30 days", () => {
  it.each<{ rival: Rival; waiting: boolean }>([
    { rival: "Holdfast", waiting: true },
    { rival: "Holdfast, retry", waiting: true },
    { rival: "p-retry", waiting: true },
    { rival: "effect", waiting: true },
    { rival: "cockatiel", waiting: false },
    { rival: "exponential-backoff", waiting: false },
    { rival: "async-retry", waiting: false },
    { rival: "rxjs", waiting: false },
  ])("of $rival still lasts after 60 ms: $waiting", async ({ rival, waiting }) => {
    const stop = new AbortController();
    const end = waits[rival](fail, 30 * 24 * 60 * 60 * 1_000, stop.signal).catch(() => {});
    await realClock.sleep(60);
    expect(calls === 1).toBe(waiting);
    stop.abort();
    await end;
  });
});

it("a sleep of Node that should last 30 days ends at once", async () => {
  const slept = nodeSleep(30 * 24 * 60 * 60 * 1_000).then(() => "over");
  expect(await Promise.race([slept, realClock.sleep(200)])).toBe("over");
});

describe("the listeners on a signal that 20 waits share", () => {
  it.each<{ rival: Rival; listeners: number }>([
    { rival: "Holdfast", listeners: 1 },
    { rival: "Holdfast, retry", listeners: 1 },
    { rival: "p-retry", listeners: 20 },
    { rival: "effect", listeners: 20 },
    { rival: "cockatiel", listeners: 0 },
  ])("of $rival are $listeners", async ({ rival, listeners }) => {
    const stop = new AbortController();
    for (let i = 0; i < 20; i++) waits[rival](fail, 60_000, stop.signal).catch(() => {});
    await realClock.sleep(20);
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(listeners);
    stop.abort();
  });

  it("of Node are 20", async () => {
    const stop = new AbortController();
    const { signal } = stop;
    const ends = Array.from({ length: 20 }, () =>
      nodeSleep(60_000, undefined, { signal }).catch(() => {}),
    );
    expect(getEventListeners(signal, "abort")).toHaveLength(20);
    stop.abort();
    await Promise.all(ends);
  });
});
