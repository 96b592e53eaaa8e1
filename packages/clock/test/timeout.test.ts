import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import { collectGarbage } from "../../../test/collect-garbage.ts";
import { countTimeouts } from "./count-timeouts.ts";

describe("timeout", () => {
  it("aborts through AbortSignal.any when nothing else holds the signal", async () => {
    const clock = new FakeClock();
    const any = AbortSignal.any([clock.timeout(100), new AbortController().signal]);
    await collectGarbage();
    await clock.step(99);
    expect(any.aborted).toBe(false);
    await clock.step(1);
    expect([any.aborted, any.reason.name]).toEqual([true, "TimeoutError"]);
  });

  it("reaches listeners when nothing holds the signal", async () => {
    const clock = new FakeClock();
    let reason: unknown;
    (() => {
      const signal = clock.timeout(100);
      signal.addEventListener("abort", () => {
        reason = signal.reason;
      });
    })();
    await collectGarbage();
    await clock.step(100);
    expect(reason).toMatchObject({ name: "TimeoutError", message: "timed out after 100 ms" });
  });

  it("does not keep the process alive", () => {
    const clock = new FakeClock();
    clock.timeout(100, { label: "limit" });
    expect(clock.pending()).toEqual([{ label: "limit", deadline: 1_000_100, ref: false }]);

    const before = countTimeouts();
    const signal = realClock.timeout(60_000);
    expect(countTimeouts()).toBe(before);
    signal[Symbol.dispose]();
  });

  it("accepts delays that AbortSignal.timeout rejects", async () => {
    const clock = new FakeClock();
    const signals = [-1, 1.5, 2 ** 31, 2 ** 32, Number.POSITIVE_INFINITY].map((delay) =>
      clock.timeout(delay),
    );
    const aborted = () => signals.map((signal) => signal.aborted);
    await clock.step(0);
    expect(aborted()).toEqual([true, false, false, false, false]);
    await clock.step(1.5);
    expect(aborted()).toEqual([true, true, false, false, false]);
    await clock.step(2 ** 32);
    expect(aborted()).toEqual([true, true, true, true, false]);
  });

  it("leaves no timer and no listener when it is disposed in time", async () => {
    const clock = new FakeClock();
    const limit = clock.timeout(100);
    await clock.run(() => clock.sleep(10, { signal: limit }));
    limit[Symbol.dispose]();
    expect([clock.waiters(), abortListeners(limit)]).toEqual([0, 0]);
  });
});
