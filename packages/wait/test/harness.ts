import { type Clock, realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { install } from "@sinonjs/fake-timers";

/** A clock, and the hand that moves it. */
export interface Harness {
  readonly clock: Clock;
  /** Moves time by whole milliseconds; promises that can settle on the way do. */
  step(duration: number): Promise<unknown>;
  /** Moves time and lets no promise settle on the way: all that fires does so in one tick. */
  stepSync(duration: number): void;
  /** How many timers are armed. */
  waiters(): number;
  /** Gives back what making the harness took. */
  close(): void;
}

/** Every loop is tested on both: the clock for tests, and the machine's on faked globals. */
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
    // Without nextTick: Node's own streams call the global one, the channel to the runner among them.
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
