import { FakeClock } from "@holdfast/clock/testing";
import { TokenBucketLimiter } from "@holdfast/controller";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { JumpingClock } from "../../../../test/jumping-clock.ts";

/** A limiter on a fake clock, and the times at which its calls of `acquire` end. */
function setUp(options: { qps: number; burst: number; cap?: number }) {
  const clock = new FakeClock();
  const start = clock.monotonic();
  const limiter = new TokenBucketLimiter({ ...options, clock });
  const ended: unknown[] = [];
  const note = (...facts: unknown[]): void =>
    void ended.push([clock.monotonic() - start, ...facts]);
  const acquire = (name: string, signal?: AbortSignal): void =>
    void limiter.acquire(signal).then(
      () => note(name),
      (reason: unknown) => note(name, reason),
    );
  return { clock, limiter, ended, acquire };
}

describe("acquire", () => {
  it("names its timer for the report of a test that is stuck", async () => {
    const { clock, acquire } = setUp({ qps: 4, burst: 1 });
    for (const name of ["a", "b"]) acquire(name);
    await clock.waitForWaiters(1);
    expect(clock.pending().map(({ label }) => label)).toEqual(["token"]);
    await clock.step(250);
  });

  it("lets a burst through at once, then qps calls per second in order", async () => {
    const { clock, ended, acquire } = setUp({ qps: 4, burst: 2 });
    for (const name of ["a", "b", "c", "d", "e"]) acquire(name);
    await clock.step(10_000);
    expect(ended).toEqual([
      [0, "a"],
      [0, "b"],
      [250, "c"],
      [500, "d"],
      [750, "e"],
    ]);
    for (const name of ["f", "g", "h"]) acquire(name);
    await clock.step(10_000);
    expect(ended.slice(5)).toEqual([
      [10_000, "f"],
      [10_000, "g"],
      [10_250, "h"],
    ]);
    expect(clock.waiters()).toBe(0);
  });

  it("shares its tokens with the delays of when", async () => {
    const { clock, limiter, ended, acquire } = setUp({ qps: 10, burst: 1 });
    acquire("a");
    expect(limiter.when("key")).toBe(100);
    acquire("b");
    expect(limiter.when("other key")).toBe(300);
    await clock.step(1_000);
    expect(ended).toEqual([
      [0, "a"],
      [200, "b"],
    ]);
  });

  it("waits longer than the cap rather than exceed the rate", async () => {
    const { clock, limiter, ended, acquire } = setUp({ qps: 1, burst: 1, cap: 1_500 });
    for (const name of ["a", "b", "c", "d"]) acquire(name);
    expect(limiter.when("key")).toBe(1_500);
    await clock.step(10_000);
    expect(ended).toEqual([
      [0, "a"],
      [1_000, "b"],
      [2_000, "c"],
      [3_000, "d"],
    ]);
  });

  it("never waits at an infinite rate", async () => {
    const { clock, ended, acquire } = setUp({ qps: Number.POSITIVE_INFINITY, burst: 1 });
    for (const name of ["a", "b", "c"]) acquire(name);
    await clock.step(0);
    expect(ended).toEqual([
      [0, "a"],
      [0, "b"],
      [0, "c"],
    ]);
  });

  it("rejects at once with signal.reason and gives the last reservation to the next call", async () => {
    const { clock, ended, acquire } = setUp({ qps: 10, burst: 1 });
    const stop = new AbortController();
    acquire("a");
    acquire("b");
    acquire("aborted", stop.signal);
    await clock.step(50);
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([1, 1]);
    stop.abort("enough");
    await clock.step(0);
    expect(ended).toEqual([
      [0, "a"],
      [50, "aborted", "enough"],
    ]);
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([1, 0]);
    acquire("c");
    await clock.step(1_000);
    expect(ended.slice(2)).toEqual([
      [100, "b"],
      [200, "c"],
    ]);
  });

  it("returns reservations that end one after the other, from the last", async () => {
    const { clock, ended, acquire } = setUp({ qps: 10, burst: 1 });
    const stops = [new AbortController(), new AbortController(), new AbortController()];
    acquire("a");
    for (const [index, stop] of stops.entries()) acquire(`aborted ${index}`, stop.signal);
    for (const stop of stops.toReversed()) {
      stop.abort("enough");
      await clock.step(0);
    }
    acquire("b");
    await clock.step(1_000);
    expect(ended.at(-1)).toEqual([100, "b"]);
    expect(clock.waiters()).toBe(0);
  });

  it("moves the calls behind an aborted one up", async () => {
    const { clock, ended, acquire } = setUp({ qps: 10, burst: 1 });
    const stop = new AbortController();
    acquire("a");
    acquire("aborted", stop.signal);
    acquire("b");
    await clock.step(50);
    stop.abort("enough");
    acquire("c");
    await clock.step(1_000);
    expect(ended).toEqual([
      [0, "a"],
      [50, "aborted", "enough"],
      [100, "b"],
      [200, "c"],
    ]);
    expect(clock.waiters()).toBe(0);
  });

  it("gives the token of an aborted call to the next, before the delays that count from it", async () => {
    const { clock, limiter, ended, acquire } = setUp({ qps: 10, burst: 1 });
    const stop = new AbortController();
    acquire("a");
    acquire("aborted", stop.signal);
    acquire("aborted too", stop.signal);
    expect(limiter.when("key")).toBe(300);
    stop.abort("enough");
    acquire("b");
    expect([limiter.when("other"), limiter.when("third")]).toEqual([200, 400]);
    await clock.step(1_000);
    expect(ended.at(-1)).toEqual([100, "b"]);
  });

  it("keeps the order of the calls in a process that stood still, whose timer is late", async () => {
    const clock = new FakeClock();
    const late = new JumpingClock(clock);
    const limiter = new TokenBucketLimiter({ qps: 10, burst: 1, clock: late });
    const ended: string[] = [];
    const acquire = (name: string) => limiter.acquire().then(() => void ended.push(name));
    const calls = ["a", "b", "c"].map(acquire);
    late.standStill(250);
    calls.push(acquire("d"));
    for (let microtasks = 0; microtasks < 10; microtasks++) await undefined;
    expect(ended).toEqual(["a", "b", "c"]);
    await clock.step(49);
    expect(ended).toEqual(["a", "b", "c"]);
    await clock.step(1);
    expect(ended).toEqual(["a", "b", "c", "d"]);
    await Promise.all(calls);
    expect(clock.waiters()).toBe(0);
  });

  it("reserves nothing when aborted before the call", async () => {
    const { clock, limiter, ended, acquire } = setUp({ qps: 10, burst: 1 });
    acquire("aborted", AbortSignal.abort("enough"));
    await clock.step(0);
    expect(ended).toEqual([[0, "aborted", "enough"]]);
    expect([limiter.when("a"), limiter.when("b")]).toEqual([0, 100]);
  });
});
