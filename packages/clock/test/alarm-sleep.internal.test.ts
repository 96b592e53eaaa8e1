import { install } from "@sinonjs/fake-timers";
import { Alarm } from "../src/alarm.ts";
import { AlarmSleep } from "../src/alarm-sleep.ts";
import type { SleepOptions } from "../src/clock.ts";
import { HostClock } from "../src/host-clock.ts";
import type { TimerHost } from "../src/host-timer.ts";
import { clockContract } from "./clock.contract.ts";

const host: TimerHost = {
  longest: 2 ** 31 - 1,
  booksForever: true,
  monotonic: () => performance.now(),
  set: (wake, delay) => setTimeout(wake, Math.ceil(delay)),
  clear: (handle) => clearTimeout(handle as NodeJS.Timeout),
};

/** Sleeps as `realClock` does where nothing is faked. */
class SharingClock extends HostClock {
  readonly #alarm = new Alarm(host, true);

  override now(): number {
    return Date.now();
  }

  protected override beginSleep(
    delay: number,
    resolve: () => void,
    reject: (reason: unknown) => void,
    { signal }: SleepOptions,
  ): void {
    new AlarmSleep(this.#alarm, resolve, reject).start(delay, signal);
  }
}

clockContract("a clock whose sleeps share a timer", () => {
  const sinon = install({ toNotFake: ["nextTick", "queueMicrotask"] });
  return {
    clock: new SharingClock(host),
    advance: (ms) => sinon.tickAsync(ms),
    waiters: () => sinon.countTimers(),
    sharesTimer: true,
    close: () => sinon.uninstall(),
  };
});
