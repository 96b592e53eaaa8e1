import { setImmediate } from "node:timers/promises";
import type { Ticker, Timer } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import type { ClockOp } from "./clock-case.ts";
import { toMilliseconds, toNanoseconds } from "./nanoseconds.ts";
import { namedBy } from "./rejections.ts";
import type { Fields, Trace } from "./trace.ts";

/**
 * Our fake clock behind the operations of Go's.
 *
 * `after` is a timer and `tick` a ticker here. A channel is a promise: what `recv` finds is the
 * firing that `timer.fired` told of, or the tick that the ticker holds.
 */
export class ReplayedClock {
  // With the wall clock at 0, setTime is as exact as a step.
  readonly #clock = new FakeClock({ now: 0 });
  readonly #runsByItself: boolean;
  readonly #start = this.#clock.monotonic();
  readonly #timers = new Map<number, TimerSlot>();
  readonly #tickers = new Map<number, TickerSlot>();
  #callbacks: Trace[] = [];

  /** @param runsByItself - whether what is due fires without anybody moving the time */
  constructor(runsByItself: boolean) {
    this.#runsByItself = runsByItself;
  }

  /** Carries out an operation and tells what it did. */
  async apply([name, ...args]: ClockOp): Promise<Fields> {
    this.#callbacks = [];
    const fields = await this.#operate(name, args.map(toMilliseconds), Number(args[0]));
    if (this.#runsByItself && this.#isDue()) await this.#clock.step(0, { turns: 0 });
    return {
      now: this.#since(this.#clock.monotonic()),
      w: BigInt(this.#clock.waiters()),
      targets: this.#clock.pending().map(({ deadline }) => this.#since(deadline)),
      cb: this.#callbacks,
      ...fields,
    };
  }

  /** Takes everything that fired, in the order of ids; callbacks have told of themselves. */
  async drain(): Promise<Trace> {
    const fired: [bigint, bigint][] = [];
    for (const [id, slot] of this.#timers) {
      const at = slot.take();
      if (at !== undefined && !slot.hasCallback) fired.push([BigInt(id), at]);
    }
    const deadlines = this.#tickers.size > 0 ? this.#deadlines() : new Map();
    for (const [id, slot] of this.#tickers) {
      const at = await slot.take(deadlines);
      if (at !== undefined) fired.push([BigInt(id), this.#since(at)]);
    }
    return fired.sort(([one], [other]) => Number(one - other));
  }

  #since(instant: number): bigint {
    return toNanoseconds(instant - this.#start);
  }

  #isDue(): boolean {
    const [first] = this.#clock.pending();
    return first !== undefined && first.deadline <= this.#clock.monotonic();
  }

  async #operate(name: string, [first = 0, second = 0]: number[], id: number): Promise<Fields> {
    const clock = this.#clock;
    switch (name) {
      case "newTimer":
      case "after":
        return this.#watch(id, clock.newTimer(second));
      case "afterFunc": {
        const fire = (): unknown =>
          this.#callbacks.push([BigInt(id), this.#since(clock.monotonic())]);
        return this.#watch(id, clock.afterFunc(second, fire), true);
      }
      case "newTicker":
      case "tick":
        return unlessRejected(() => this.#createTicker(id, second));
      case "stop":
        return { b: this.#timers.get(id)?.timer.stop() };
      case "reset":
        return { b: this.#timers.get(id)?.reset(second) };
      case "tickerStop":
        this.#tickers.get(id)?.ticker.stop();
        return {};
      case "recv":
        return { recv: await this.#receive(id) };
      case "since":
        return { since: toNanoseconds(clock.now() - first) };
      case "step":
        return unlessRejected(() => clock.step(first, { turns: 0 }));
      case "setTime":
        return unlessRejected(() => clock.setTime(first, { turns: 0 }));
      case "sleep":
        return await this.#sleep(first);
      default:
        throw new Error(`unknown operation ${name}`);
    }
  }

  #watch(id: number, timer: Timer, hasCallback = false): Fields {
    const now = (): bigint => this.#since(this.#clock.monotonic());
    this.#timers.set(id, new TimerSlot(timer, hasCallback, now));
    return {};
  }

  #createTicker(id: number, period: number): void {
    const label = `ticker ${id}`;
    const ticker = this.#clock.newTicker(period, { label });
    this.#tickers.set(id, new TickerSlot(ticker, label, this.#deadlines()));
  }

  /** When the next tick of each ticker is due, by label. */
  #deadlines(): Deadlines {
    return new Map(this.#clock.pending().map(({ label, deadline }) => [label, deadline]));
  }

  async #receive(id: number): Promise<bigint | null> {
    const tick = await this.#tickers.get(id)?.take(this.#deadlines());
    if (tick !== undefined) return this.#since(tick);
    return this.#timers.get(id)?.take() ?? null;
  }

  async #sleep(duration: number): Promise<Fields> {
    let isAsleep = true;
    const sleep = this.#clock.sleep(duration).then(() => {
      isAsleep = false;
    });
    await setImmediate();
    const slept = { now: this.#since(this.#clock.monotonic()), w: BigInt(this.#clock.waiters()) };
    await this.#clock.step(duration, { turns: 0 });
    if (isAsleep) throw new Error(`sleep(${duration}) is not over after ${duration} ms`);
    await sleep;
    return { slept };
  }
}

type Deadlines = ReadonlyMap<string | undefined, number>;

/** A timer as a channel: holds a firing until it is taken, or until a reset makes a new promise. */
class TimerSlot {
  readonly timer: Timer;
  readonly hasCallback: boolean;
  readonly #now: () => bigint;
  #promise: Promise<boolean> | undefined = undefined;
  #firing: bigint | undefined = undefined;

  constructor(timer: Timer, hasCallback: boolean, now: () => bigint) {
    this.timer = timer;
    this.hasCallback = hasCallback;
    this.#now = now;
    this.#watch();
  }

  reset(delay: number): boolean {
    const wasActive = this.timer.reset(delay);
    this.#watch();
    return wasActive;
  }

  take(): bigint | undefined {
    const firing = this.#firing;
    this.#firing = undefined;
    return firing;
  }

  #watch(): void {
    const promise = this.timer.fired;
    if (promise === this.#promise) return;
    this.#promise = promise;
    this.#firing = undefined;
    promise.then(
      (hasFired) => {
        if (hasFired && promise === this.#promise) this.#firing = this.#now();
      },
      () => {},
    );
  }
}

/** A ticker as a channel. Its deadline tells whether it has ticked, so that no `next` stays pending. */
class TickerSlot {
  readonly ticker: Ticker;
  readonly #label: string;
  #deadline: number | undefined;

  constructor(ticker: Ticker, label: string, deadlines: Deadlines) {
    this.ticker = ticker;
    this.#label = label;
    this.#deadline = deadlines.get(label);
  }

  async take(deadlines: Deadlines): Promise<number | undefined> {
    const deadline = deadlines.get(this.#label);
    if (deadline === this.#deadline) return undefined;
    this.#deadline = deadline;
    const tick = await Promise.race([this.ticker.next(), setImmediate(undefined)]);
    return tick?.value;
  }
}

async function unlessRejected(call: () => unknown): Promise<Fields> {
  try {
    await call();
    return {};
  } catch (error) {
    const rejected = namedBy(error);
    if (rejected === undefined) throw error;
    return { rejected };
  }
}
