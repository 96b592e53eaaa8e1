import { afterEach, describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";

const { any } = AbortSignal;
afterEach(() => {
  vi.restoreAllMocks();
  Object.assign(AbortSignal, { any });
});

/** Loads the packages where a listener that calls `stopImmediatePropagation()` hides an abort from them. */
async function loadInOldBrowser() {
  vi.resetModules();
  vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined as never);
  Object.assign(AbortSignal, { any: undefined });
  const { FakeClock } = await import("@holdfast/clock/testing");
  const { poll, retry, withTimeout } = await import("@holdfast/wait");
  const stop = new AbortController();
  stop.signal.addEventListener("abort", (event) => event.stopImmediatePropagation());
  return { clock: new FakeClock(), stop, poll, retry, withTimeout };
}

describe("an abort that another listener hides, on a platform without a remedy", () => {
  it("rejects retry and poll at the end of the delay, without another call", async () => {
    const { clock, stop, poll, retry } = await loadInOldBrowser();
    const calls: string[] = [];
    const options = { backoff: { duration: 100 }, signal: stop.signal, clock };
    const retrying = retry(() => {
      calls.push("retry");
      throw new Error("busy");
    }, options);
    const polling = poll(() => calls.push("poll") > 9, options);
    const ends = Promise.allSettled([retrying, polling]);
    await clock.step(50);
    stop.abort("bye");
    await clock.step(50);
    const rejected = { status: "rejected", reason: "bye" };
    expect([await ends, calls]).toEqual([
      [rejected, rejected],
      ["retry", "poll"],
    ]);
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 1]);
  });

  it("rejects withTimeout when its work ends, and passes the value to onLate", async () => {
    const { clock, stop, withTimeout } = await loadInOldBrowser();
    const late: unknown[] = [];
    const work = () => clock.sleep(100).then(() => "value");
    const onLate = (value: string) => late.push(value);
    const options = { signal: stop.signal, clock, onLate };
    const end = withTimeout(work, Number.POSITIVE_INFINITY, options).catch((reason) => reason);
    stop.abort("bye");
    await clock.step(100);
    expect([await end, late, clock.waiters()]).toEqual(["bye", ["value"], 0]);
    expect(abortListeners(stop.signal)).toBe(1); // the one that hides
  });
});
