import { describe, expect, it } from "vitest";
import { HostTimer, type TimerHost } from "../../src/host/host-timer.ts";

/** A host that wakes on command and records the delays it is asked for. */
class ManualHost implements TimerHost {
  readonly longest = 1000;
  readonly booksForever: boolean;
  measuresTimers = true;
  readonly asked: number[] = [];
  time = 0;
  #wake: (() => void) | undefined = undefined;

  constructor(booksForever = true) {
    this.booksForever = booksForever;
  }

  monotonic(): number {
    return this.time;
  }

  set(wake: () => void, delay: number): unknown {
    this.asked.push(delay);
    this.#wake = wake;
    return this.asked.length;
  }

  clear(handle: unknown): void {
    if (handle === this.asked.length) this.#wake = undefined;
  }

  get booked(): boolean {
    return this.#wake !== undefined;
  }

  wakeAt(time: number): void {
    this.time = time;
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

/** Wakes due timers in the order they were set, and cancels none. */
class StubbornHost implements TimerHost {
  readonly longest = 1000;
  readonly booksForever = true;
  measuresTimers = true;
  readonly delays: number[] = [];
  time = 0;
  readonly #wakes: { readonly at: number; readonly wake: () => void }[] = [];

  monotonic(): number {
    return this.time;
  }

  set(wake: () => void, delay: number): void {
    this.delays.push(delay);
    this.#wakes.push({ at: this.time + delay, wake });
  }

  clear(): void {}

  wakeAt(time: number): void {
    this.time = time;
    for (const { at, wake } of this.#wakes) if (at === time) wake();
  }
}

function arm(delay: number): { host: ManualHost; timer: HostTimer; firedAt: number[] } {
  const host = new ManualHost();
  const firedAt: number[] = [];
  const timer = new HostTimer(host, () => firedAt.push(host.time), true);
  timer.reset(delay);
  return { host, timer, firedAt };
}

interface Case {
  readonly name: string;
  readonly delay: number;
  /** The instants at which the host wakes the timer. */
  readonly wakes: readonly number[];
  /** The delays the timer asks for, the first time and after each wake-up. */
  readonly asked: readonly number[];
  readonly firedAt: readonly number[];
}

describe("a HostTimer", () => {
  it.each<Case>([
    { name: "on time", delay: 10, wakes: [10], asked: [10], firedAt: [10] },
    { name: "late", delay: 10, wakes: [25], asked: [10], firedAt: [25] },
    { name: "1 ms early", delay: 10, wakes: [9, 10], asked: [10, 1], firedAt: [10] },
    {
      name: "as early as a kernel tick",
      delay: 10,
      wakes: [6, 8, 10],
      asked: [10, 1, 1],
      firedAt: [10],
    },
    { name: "earlier than any tick", delay: 10, wakes: [5.9], asked: [10], firedAt: [5.9] },
    { name: "early twice", delay: 10, wakes: [9.1, 9.9, 11], asked: [10, 1, 1], firedAt: [11] },
    {
      name: "early every time, as in a half-faked environment",
      delay: 10,
      wakes: [9.1, 9.2, 9.3, 9.4],
      asked: [10, 1, 1, 1],
      firedAt: [9.4],
    },
    { name: "far too early, as by a fake", delay: 10, wakes: [0], asked: [10], firedAt: [0] },
    {
      name: "for the legs of a long delay",
      delay: 2500,
      wakes: [1000, 2001, 2500],
      asked: [1000, 1000, 499],
      firedAt: [2500],
    },
    {
      name: "for the legs of a long delay by a fake",
      delay: 2500,
      wakes: [0, 0, 0],
      asked: [1000, 1000, 500],
      firedAt: [0],
    },
    {
      name: "early for the last leg",
      delay: 1500,
      wakes: [1000, 1499.5, 1500.5],
      asked: [1000, 500, 1],
      firedAt: [1500.5],
    },
    {
      name: "late for a leg and exactly at its deadline",
      delay: 2500,
      wakes: [2500],
      asked: [1000],
      firedAt: [2500],
    },
    {
      name: "late for a leg and past its deadline",
      delay: 2500,
      wakes: [3000],
      asked: [1000],
      firedAt: [3000],
    },
    {
      name: "again and again, with an infinite delay",
      delay: Number.POSITIVE_INFINITY,
      wakes: [1000, 2000, 3000],
      asked: [1000, 1000, 1000, 1000],
      firedAt: [],
    },
  ])("woken $name", ({ delay, wakes, asked, firedAt: expected }) => {
    const { host, timer, firedAt } = arm(delay);
    for (const time of wakes) host.wakeAt(time);
    expect([host.asked, firedAt]).toEqual([asked, expected]);
    expect(timer.active).toBe(expected.length === 0);
    expect(host.booked).toBe(timer.active);
  });

  it("starts counting its corrections from 0 when it is reset", () => {
    const { host, timer, firedAt } = arm(10);
    for (const time of [9.1, 9.2, 9.3, 9.4]) host.wakeAt(time);
    timer.reset(10);
    for (const time of [19.1, 19.2, 19.3, 19.35]) host.wakeAt(time);
    expect([host.asked, firedAt]).toEqual([
      [10, 1, 1, 1, 10, 1, 1, 1],
      [9.4, 19.35],
    ]);
  });

  it("fires with a wake-up of a host that does not show how early it is", () => {
    const { host, timer, firedAt } = arm(10);
    host.measuresTimers = false;
    host.wakeAt(9.5);
    expect([host.asked, firedAt, timer.active]).toEqual([[10], [9.5], false]);
  });

  it.each([
    { booksForever: true, asked: [1000] },
    { booksForever: false, asked: [] },
  ])("with an infinite delay asks for $asked of a host with booksForever $booksForever", (row) => {
    const host = new ManualHost(row.booksForever);
    const timer = new HostTimer(host, () => {}, true);
    timer.reset(Number.POSITIVE_INFINITY);
    expect([host.asked, timer.active]).toEqual([row.asked, true]);
    expect([timer.stop(), host.booked]).toEqual([true, false]);
  });

  it("books nothing after it is stopped between two legs", () => {
    const { host, timer, firedAt } = arm(2500);
    host.wakeAt(1000);
    timer.stop();
    expect(host.booked).toBe(false);
    host.wakeAt(5000);
    expect(firedAt).toEqual([]);
  });
});

describe("a HostTimer whose host does not cancel wake-ups", () => {
  const armStubborn = () => {
    const host = new StubbornHost();
    const firedAt: number[] = [];
    const timer = new HostTimer(host, () => firedAt.push(host.time), true);
    timer.reset(10);
    return { host, timer, firedAt };
  };

  it("does not fire once it is stopped", async () => {
    const { host, timer, firedAt } = armStubborn();
    const fired = timer.fired;
    expect(timer.stop()).toBe(true);
    host.wakeAt(10);
    expect([firedAt, timer.active, await fired]).toEqual([[], false, false]);
  });

  it("fires only at the instant of its last reset", () => {
    const { host, timer, firedAt } = armStubborn();
    timer.reset(20);
    host.wakeAt(10);
    host.wakeAt(20);
    timer.reset(5);
    host.wakeAt(25);
    expect([firedAt, host.delays]).toEqual([
      [20, 25],
      [10, 20, 5],
    ]);
  });
});

/** More than one correction has never been seen: two need a wake-up in the middle of a tick. */
it("needs no more than two corrections on Node", async () => {
  const corrections: number[] = [];
  const sleeps: Promise<void>[] = [];
  for (let index = 0; index < 2000; index++) {
    let asked = -1;
    const host: TimerHost = {
      longest: 2 ** 31 - 1,
      booksForever: true,
      measuresTimers: true,
      monotonic: () => performance.now(),
      set(wake, delay) {
        asked++;
        return setTimeout(wake, Math.ceil(delay));
      },
      clear() {},
    };
    const fired = (resolve: () => void) => {
      new HostTimer(host, resolve, true).reset(0.1 + (index % 97) / 10);
    };
    sleeps.push(new Promise<void>(fired).then(() => void corrections.push(asked)));
    if (index % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(sleeps);
  expect(corrections).toHaveLength(2000);
  expect(Math.max(...corrections)).toBeGreaterThanOrEqual(1);
  expect(Math.max(...corrections)).toBeLessThanOrEqual(2);
});

/**
 * Timers as libuv makes them on a coarse kernel clock: the loop counts whole milliseconds of a clock that
 * moves with each tick of the kernel, and `monotonic` reads a fine one. A timer set between two ticks
 * counts from the last one, so it wakes early.
 */
class CoarseHost implements TimerHost {
  readonly longest = 1000;
  readonly booksForever = true;
  readonly measuresTimers = true;
  time: number;
  readonly #tick: number;
  #due: { readonly at: number; readonly wake: () => void } | undefined = undefined;

  constructor(tick: number, time: number) {
    this.#tick = tick;
    this.time = time;
  }

  monotonic(): number {
    return this.time;
  }

  get #loopTime(): number {
    return Math.floor(Math.floor(this.time / this.#tick) * this.#tick);
  }

  set(wake: () => void, delay: number): unknown {
    this.#due = { at: this.#loopTime + Math.max(1, Math.ceil(delay)), wake };
    return this.#due;
  }

  clear(): void {
    this.#due = undefined;
  }

  /** Moves to the next tick at which a timer is due, until none is set. */
  run(): void {
    while (this.#due !== undefined) {
      this.time = (Math.floor(this.time / this.#tick) + 1) * this.#tick;
      if (this.#loopTime < this.#due.at) continue;
      const { wake } = this.#due;
      this.#due = undefined;
      wake();
    }
  }
}

describe("on a kernel clock that ticks", () => {
  it.each([1, 1.5, 2, 2.5, 3])("every %f ms, a timer is never early", (tick) => {
    const early: number[] = [];
    const late: number[] = [];
    for (let delay = 0.5; delay <= 12; delay += 0.5) {
      for (let phase = 0; phase < 3 * tick; phase += 0.05) {
        const host = new CoarseHost(tick, 1_000 + phase);
        const timer = new HostTimer(host, () => {}, true);
        timer.reset(delay);
        const { deadline } = timer;
        host.run();
        expect(timer.active).toBe(false);
        if (host.time < deadline) early.push(deadline - host.time);
        late.push(host.time - deadline);
      }
    }
    expect(early).toEqual([]);
    expect(Math.max(...late)).toBeLessThan(2 * tick + 2);
  });
});
