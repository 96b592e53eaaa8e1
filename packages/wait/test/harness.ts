import { type Clock, realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { install } from "@sinonjs/fake-timers";

/** A clock and the functions that move it. */
export interface Harness {
  readonly clock: Clock;
  /** Moves time by whole milliseconds; promises settle on the way. */
  step(duration: number): Promise<unknown>;
  /** Moves time in one tick: no promise settles on the way. */
  stepSync(duration: number): void;
  /** Number of armed timers. */
  waiters(): number;
  /** Restores the faked globals. */
  close(): void;
}

/** Every loop is tested on both: the fake clock, and the real clock on faked globals. */
export const harnesses: Readonly<Record<string, () => Harness>> = {
  FakeClock() {
    const clock = new FakeClock();
    return {
      clock,
      step: (duration) => clock.step(duration),
      stepSync: (duration) => clock.stepSync(duration),
      waiters: () => clock.waiters(),
      close: () => clock[Symbol.dispose](),
    };
  },
  "realClock over @sinonjs/fake-timers"() {
    // Not nextTick: Node's streams call the global one, also for the channel to the test runner.
    const sinon = install({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
    return {
      clock: realClock,
      step: (duration) => sinon.tickAsync(duration),
      stepSync: (duration) => void sinon.tick(duration),
      waiters: () => sinon.countTimers(),
      close: () => sinon.uninstall(),
    };
  },
};
