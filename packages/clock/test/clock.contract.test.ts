import { BaseClock, realClock, type Timer, type TimerOptions } from "@holdfast/clock";
import { fromFakeTimers } from "@holdfast/clock/fake-timers";
import { asScheduler, fromScheduler } from "@holdfast/clock/rxjs";
import { FakeClock } from "@holdfast/clock/testing";
import { createClock, install } from "@sinonjs/fake-timers";
import { asyncScheduler } from "rxjs";
import { vi } from "vitest";
import { clockContract } from "./clock.contract.ts";

clockContract("FakeClock", () => {
  const clock = new FakeClock();
  return { clock, advance: (ms) => clock.step(ms), waiters: () => clock.waiters() };
});

clockContract("FakeClock, in bursts", () => {
  const clock = new FakeClock();
  return { clock, advance: (ms) => clock.step(ms, { turns: 0 }), waiters: () => clock.waiters() };
});

clockContract("a BaseClock of three methods", () => {
  const inner = new FakeClock();
  class ThreeMethods extends BaseClock {
    override now(): number {
      return inner.now();
    }
    override monotonic(): number {
      return inner.monotonic();
    }
    override afterFunc(delay: number, fire: () => void, options?: TimerOptions): Timer {
      return inner.afterFunc(delay, fire, options);
    }
  }
  const clock = new ThreeMethods();
  return { clock, advance: (ms) => inner.step(ms), waiters: () => inner.waiters() };
});

clockContract("realClock over @sinonjs/fake-timers", () => {
  // Faking nextTick as well would keep the test runner's own messages from leaving.
  const sinon = install({ toNotFake: ["nextTick", "queueMicrotask"] });
  return {
    clock: realClock,
    advance: (ms) => sinon.tickAsync(ms),
    waiters: () => sinon.countTimers(),
    close: () => sinon.uninstall(),
  };
});

clockContract("realClock over vi.useFakeTimers()", () => {
  vi.useFakeTimers();
  return {
    clock: realClock,
    advance: (ms) => vi.advanceTimersByTimeAsync(ms),
    waiters: () => vi.getTimerCount(),
    close: () => vi.useRealTimers(),
  };
});

clockContract("fromFakeTimers over @sinonjs/fake-timers", () => {
  const clock = fromFakeTimers(createClock());
  return { clock, advance: (ms) => clock.step(ms), waiters: () => clock.waiters() };
});

clockContract("fromFakeTimers over vi.useFakeTimers()", () => {
  vi.useFakeTimers();
  const clock = fromFakeTimers();
  return {
    clock,
    advance: (ms) => clock.step(ms),
    waiters: () => clock.waiters(),
    close: () => vi.useRealTimers(),
  };
});

clockContract("fromScheduler over asyncScheduler over vi.useFakeTimers()", () => {
  vi.useFakeTimers();
  return {
    clock: fromScheduler(asyncScheduler),
    advance: (ms) => vi.advanceTimersByTimeAsync(ms),
    waiters: () => vi.getTimerCount(),
    endlessWaiters: 0,
    close: () => vi.useRealTimers(),
  };
});

clockContract("fromScheduler over asScheduler over FakeClock", () => {
  const inner = new FakeClock();
  return {
    clock: fromScheduler(asScheduler(inner)),
    advance: (ms) => inner.step(ms),
    waiters: () => inner.waiters(),
    endlessWaiters: 0,
  };
});
