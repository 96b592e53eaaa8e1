import { onAbort, realClock } from "@holdfast/clock";
import { DeadlockError, FakeClock, LivelockError } from "@holdfast/clock/testing";
import { equal, hiddenAbort, reasonOf } from "./expect.mjs";

const HOUR = 3_600_000;
const DAYS_30 = 30 * 24 * HOUR;

/** @type {Record<string, () => unknown>} */
export const clockChecks = {
  async "realClock.sleep resolves never early, whatever the fraction"() {
    const delays = Array.from({ length: 300 }, (_, index) => 1 + (index % 40) / 7);
    const early = await Promise.all(
      delays.map(async (delay) => {
        const start = realClock.monotonic();
        await realClock.sleep(delay);
        return Math.max(delay - (realClock.monotonic() - start), 0);
      }),
    );
    equal(Math.max(...early), 0);
  },

  async "timers fire in the order of their deadlines, and a stopped one never"() {
    const fired = [];
    for (const delay of [60, 5, 30]) realClock.afterFunc(delay, () => fired.push(delay));
    const stopped = realClock.afterFunc(10, () => fired.push("stopped"));
    const beyond = realClock.afterFunc(DAYS_30, () => fired.push("beyond 2^31 ms"));
    equal(stopped.stop(), true);
    await realClock.sleep(100);
    equal([fired, beyond.stop()], [[5, 30, 60], true]);
  },

  async "a sleep rejects with signal.reason itself at once"() {
    const stop = new AbortController();
    const reason = { why: "enough" };
    const slept = reasonOf(realClock.sleep(HOUR, { signal: stop.signal }));
    stop.abort(reason);
    equal((await slept) === reason, true);
    equal((await reasonOf(realClock.sleep(1, { signal: stop.signal }))) === reason, true);
  },

  async "a hidden abort ends a sleep at its next wake-up at the latest"() {
    const stop = hiddenAbort();
    const slept = reasonOf(realClock.sleep(30, { signal: stop.signal }));
    const longer = reasonOf(realClock.sleep(HOUR, { signal: stop.signal }));
    stop.abort("hidden");
    equal(await Promise.all([slept, longer]), ["hidden", "hidden"]);
  },

  async "10,000 sleeps on one signal end with it, and add at most one listener"() {
    const stop = new AbortController();
    let listeners = 0;
    const { addEventListener } = stop.signal;
    Object.defineProperty(stop.signal, "addEventListener", {
      value(...args) {
        listeners++;
        return Reflect.apply(addEventListener, stop.signal, args);
      },
    });
    const sleeps = Array.from({ length: 10_000 }, () =>
      reasonOf(realClock.sleep(HOUR, { signal: stop.signal })),
    );
    stop.abort("all");
    const reasons = await Promise.all(sleeps);
    equal([new Set(reasons).size, reasons[0], listeners <= 1], [1, "all", true]);
  },

  async "onAbort calls each callback once, and a disposed one never"() {
    const stop = new AbortController();
    const heard = [];
    const gone = onAbort(stop.signal, () => heard.push("gone"));
    onAbort(stop.signal, (reason) => heard.push(reason));
    gone[Symbol.dispose]();
    stop.abort("bye");
    onAbort(stop.signal, (reason) => heard.push(`late ${reason}`));
    await realClock.sleep(1);
    equal(heard, ["bye", "late bye"]);
  },

  async "clock.timeout aborts with a TimeoutError, and a ticker ticks"() {
    const limit = realClock.timeout(5);
    await realClock.sleep(20); // the timer of a timeout keeps no process alive
    equal(limit.aborted, true);
    equal([limit.reason.name, limit.reason instanceof DOMException], ["TimeoutError", true]);
    const instants = [];
    for await (const at of realClock.newTicker(5)) if (instants.push(at) === 3) break;
    equal(instants.length, 3);
  },

  async "FakeClock.run passes an hour at once, a turn of the event loop for each timer"() {
    const clock = new FakeClock();
    const start = clock.monotonic();
    const minutes = await clock.run(async () => {
      let slept = 0;
      for (; slept < 60; slept++) await clock.sleep(60_000);
      return slept;
    });
    equal([minutes, clock.monotonic() - start, clock.waiters()], [60, HOUR, 0]);
  },

  async "FakeClock.run waits for external work"() {
    const clock = new FakeClock();
    const start = clock.monotonic();
    const body = await clock.run(async () => {
      const answer = await clock.external(realClock.sleep(30).then(() => "answer"));
      await clock.sleep(1_000);
      return answer;
    });
    equal([body, clock.monotonic() - start], ["answer", 1_000]);
  },

  async "a stuck FakeClock.run rejects with a DeadlockError that lists the timers"() {
    const clock = new FakeClock();
    clock.afterFunc(Number.POSITIVE_INFINITY, () => {}, { label: "endless" });
    const error = await reasonOf(clock.run(() => new Promise(() => {}), { stallMs: 20 }));
    equal([error instanceof DeadlockError, error.code], [true, "ERR_CLOCK_DEADLOCK"]);
    equal([error.facts.pending.map(({ label }) => label), error.facts.fired], [["endless"], 0]);
  },

  async "a FakeClock.run that never ends rejects with a LivelockError"() {
    const clock = new FakeClock();
    const forever = async () => {
      for (;;) await clock.sleep(1);
    };
    const error = await reasonOf(clock.run(forever, { maxTimers: 1_000 }));
    equal(error instanceof LivelockError, true);
    clock[Symbol.dispose]();
  },
};
