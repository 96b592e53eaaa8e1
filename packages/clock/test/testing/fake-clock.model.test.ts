import type { Ticker, Timer } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import fc from "fast-check";
import { expect, it } from "vitest";

// All times below are whole nanoseconds, so that the model's arithmetic is exact.

const NEVER = Number.POSITIVE_INFINITY;

/** The action of a timer when it fires, besides being noted. */
type Reaction =
  | { readonly kind: "nothing" }
  | { readonly kind: "arm"; readonly delay: number; readonly reaction: Reaction }
  | { readonly kind: "stop"; readonly which: number }
  | { readonly kind: "reset"; readonly which: number; readonly delay: number }
  | { readonly kind: "repeat"; readonly delay: number };

type Operation =
  | { readonly kind: "arm"; readonly delay: number; readonly reaction: Reaction }
  | { readonly kind: "stop"; readonly which: number }
  | { readonly kind: "reset"; readonly which: number; readonly delay: number }
  | { readonly kind: "tick"; readonly period: number }
  | { readonly kind: "take"; readonly which: number }
  | { readonly kind: "stop ticker"; readonly which: number }
  | { readonly kind: "reset ticker"; readonly which: number; readonly period: number }
  | { readonly kind: "step" | "step in bursts" | "stepSync"; readonly duration: number }
  | { readonly kind: "set wall"; readonly to: number }
  | { readonly kind: "dispose" };

interface State {
  readonly monotonic: number;
  readonly wall: number;
  readonly pending: readonly (readonly [id: string, deadline: number])[];
  readonly dropped: readonly number[];
}

/** The operations and readings of a clock, in which {@link Real} and {@link Model} must not differ. */
interface World {
  /** Everything that happened, in order. */
  readonly log: unknown[];
  arm(id: string, delay: number, onFire: () => void): void;
  stop(which: number): boolean;
  reset(which: number, delay: number): boolean;
  tick(id: string, period: number): void;
  take(which: number): void;
  stopTicker(which: number): void;
  resetTicker(which: number, period: number): void;
  step(duration: number, kind: "step" | "step in bursts" | "stepSync"): unknown;
  setWall(to: number): void;
  dispose(): void;
  state(): State;
}

class Real implements World {
  readonly log: unknown[] = [];
  readonly #clock = new FakeClock({ now: 0 });
  readonly #timers: Timer[] = [];
  readonly #tickers: Ticker[] = [];

  #toNanoseconds(instant: number): number {
    return Math.round((instant - 1_000_000) * 1e6);
  }

  arm(id: string, delay: number, onFire: () => void): void {
    const fire = () => {
      this.log.push([id, this.#toNanoseconds(this.#clock.monotonic())]);
      onFire();
    };
    this.#timers.push(this.#clock.afterFunc(delay / 1e6, fire, { label: id }));
  }

  stop(which: number): boolean {
    return (this.#timers[which] as Timer).stop();
  }

  reset(which: number, delay: number): boolean {
    return (this.#timers[which] as Timer).reset(delay / 1e6);
  }

  tick(id: string, period: number): void {
    this.#tickers.push(this.#clock.newTicker(period / 1e6, { label: id }));
  }

  take(which: number): void {
    void this.#tickers[which]?.next().then(({ done, value }) => {
      this.log.push(["taken", which, done ? "end" : this.#toNanoseconds(value)]);
    });
  }

  stopTicker(which: number): void {
    this.#tickers[which]?.stop();
  }

  resetTicker(which: number, period: number): void {
    this.#tickers[which]?.reset(period / 1e6);
  }

  async step(duration: number, kind: "step" | "step in bursts" | "stepSync"): Promise<void> {
    if (kind === "stepSync") this.#clock.stepSync(duration / 1e6);
    else await this.#clock.step(duration / 1e6, { turns: kind === "step" ? 1 : 0 });
  }

  setWall(to: number): void {
    this.#clock.setSystemTime(to / 1e6);
  }

  dispose(): void {
    this.#clock[Symbol.dispose]();
  }

  state(): State {
    expect(this.#clock.waiters()).toBe(this.#clock.pending().length);
    return {
      monotonic: this.#toNanoseconds(this.#clock.monotonic()),
      wall: Math.round(this.#clock.now() * 1e6),
      pending: this.#clock
        .pending()
        .map(({ label, deadline }) => [String(label), this.#toNanoseconds(deadline)]),
      dropped: this.#tickers.map(({ dropped }) => dropped),
    };
  }
}

interface Waiter {
  readonly id: string;
  readonly fire: () => void;
  deadline: number;
  /** When it was armed, among all; undefined while it is not. */
  sequence: number | undefined;
}

interface ModelTicker {
  readonly waiter: Waiter;
  period: number;
  start: number;
  buffered: number | undefined;
  takers: number;
  dropped: number;
  stopped: boolean;
}

/** A fake clock as one would write it first: a list, sorted for every timer that fires. */
class Model implements World {
  readonly log: unknown[] = [];
  /** The entries that promises will log when they run. */
  #settled: unknown[] = [];
  #now = 0;
  #wallOffset = 0;
  #sequence = 0;
  readonly #waiters: Waiter[] = [];
  readonly #timers: Waiter[] = [];
  readonly #tickers: ModelTicker[] = [];

  #add(id: string, fire: () => void): Waiter {
    const waiter = { id, fire, deadline: 0, sequence: undefined };
    this.#waiters.push(waiter);
    return waiter;
  }

  #arm(waiter: Waiter, deadline: number): boolean {
    const waiting = waiter.sequence !== undefined;
    waiter.deadline = deadline;
    waiter.sequence = this.#sequence++;
    return waiting;
  }

  #disarm(waiter: Waiter): boolean {
    const waiting = waiter.sequence !== undefined;
    waiter.sequence = undefined;
    return waiting;
  }

  #armed(): Waiter[] {
    return this.#waiters
      .filter(({ sequence }) => sequence !== undefined)
      .sort((a, b) =>
        a.deadline === b.deadline
          ? Number(a.sequence) - Number(b.sequence)
          : a.deadline - b.deadline,
      );
  }

  arm(id: string, delay: number, onFire: () => void): void {
    const waiter = this.#add(id, () => {
      this.log.push([id, this.#now]);
      onFire();
    });
    this.#timers.push(waiter);
    this.#arm(waiter, this.#now + Math.max(delay, 0));
  }

  stop(which: number): boolean {
    return this.#disarm(this.#timers[which] as Waiter);
  }

  reset(which: number, delay: number): boolean {
    return this.#arm(this.#timers[which] as Waiter, this.#now + Math.max(delay, 0));
  }

  tick(id: string, period: number): void {
    const which = this.#tickers.length;
    const waiter = this.#add(id, () => this.#onTick(which));
    const [start, dropped, takers] = [this.#now, 0, 0];
    this.#tickers.push({
      waiter,
      period,
      start,
      buffered: undefined,
      takers,
      dropped,
      stopped: false,
    });
    this.#arm(waiter, start + period);
  }

  #onTick(which: number): void {
    const ticker = this.#tickers[which] as ModelTicker;
    this.#arm(ticker.waiter, this.#now + ticker.period);
    if (ticker.takers > 0) {
      ticker.takers--;
      this.#settled.push(["taken", which, this.#now]);
    } else if (ticker.buffered === undefined) ticker.buffered = this.#now;
    else ticker.dropped++;
  }

  take(which: number): void {
    const ticker = this.#tickers[which] as ModelTicker;
    if (ticker.stopped) this.#settled.push(["taken", which, "end"]);
    else if (ticker.buffered === undefined) ticker.takers++;
    else {
      this.#settled.push(["taken", which, ticker.buffered]);
      ticker.buffered = undefined;
    }
  }

  stopTicker(which: number): void {
    const ticker = this.#tickers[which] as ModelTicker;
    for (; ticker.takers > 0; ticker.takers--) this.#settled.push(["taken", which, "end"]);
    ticker.stopped = true;
    ticker.buffered = undefined;
    this.#disarm(ticker.waiter);
  }

  resetTicker(which: number, period: number): void {
    const ticker = this.#tickers[which] as ModelTicker;
    ticker.stopped = false;
    ticker.buffered = undefined;
    ticker.period = period;
    this.#arm(ticker.waiter, this.#now + period);
  }

  step(duration: number, kind: "step" | "step in bursts" | "stepSync"): void {
    const end = this.#now + duration;
    if (kind !== "stepSync") this.tell();
    for (let [first] = this.#armed(); first && first.deadline <= end; [first] = this.#armed()) {
      this.#now = Math.max(this.#now, first.deadline);
      this.#disarm(first);
      first.fire();
      if (kind !== "stepSync") this.tell();
    }
    this.#now = end;
  }

  /** Lets the promises run. */
  tell(): void {
    this.log.push(...this.#settled);
    this.#settled = [];
  }

  setWall(to: number): void {
    this.#wallOffset = to - this.#now;
  }

  dispose(): void {
    for (const waiter of this.#waiters) waiter.sequence = undefined;
  }

  state(): State {
    return {
      monotonic: this.#now,
      wall: this.#wallOffset + this.#now,
      pending: this.#armed().map(({ id, deadline }) => [id, deadline]),
      dropped: this.#tickers.map(({ dropped }) => dropped),
    };
  }
}

/** Applies operations to a world, and the actions of its timers when they fire. */
class Player {
  readonly world: World;
  #timers = 0;
  #tickers = 0;
  /** Keeps timers that repeat at once from doing so forever. */
  #fuel = 200;

  constructor(world: World) {
    this.world = world;
  }

  async play(operation: Operation): Promise<void> {
    const { world } = this;
    const ticker = "which" in operation ? operation.which % this.#tickers : 0;
    switch (operation.kind) {
      case "step":
      case "step in bursts":
      case "stepSync":
        await world.step(operation.duration, operation.kind);
        break;
      case "set wall":
        world.setWall(operation.to);
        break;
      case "dispose":
        world.dispose();
        break;
      case "tick":
        world.tick(`ticker ${this.#tickers++}`, operation.period);
        break;
      case "take":
        if (this.#tickers > 0) world.take(ticker);
        break;
      case "stop ticker":
        if (this.#tickers > 0) world.stopTicker(ticker);
        break;
      case "reset ticker":
        if (this.#tickers > 0) world.resetTicker(ticker, operation.period);
        break;
      default:
        this.#react(operation, 0);
    }
  }

  #react(reaction: Reaction, self: number): void {
    const { world } = this;
    if (reaction.kind === "nothing" || this.#fuel-- <= 0) return;
    if (reaction.kind === "arm") {
      const id = this.#timers++;
      world.arm(`timer ${id}`, reaction.delay, () => this.#react(reaction.reaction, id));
    } else if (reaction.kind === "repeat") world.log.push(world.reset(self, reaction.delay));
    else if (this.#timers > 0) {
      const which = reaction.which % this.#timers;
      if (reaction.kind === "stop") world.log.push(world.stop(which));
      else world.log.push(world.reset(which, reaction.delay));
    }
  }
}

// Few different values, so that many deadlines are equal; tenths of a millisecond among them.
const delay = fc.oneof(
  fc.integer({ min: 0, max: 20 }).map((tenths) => tenths * 100_000),
  fc.constantFrom(-1e6, 0, 1, 2, 333_333, 1_999_999, NEVER),
);
const period = fc.oneof(
  fc.integer({ min: 1, max: 20 }).map((tenths) => tenths * 100_000),
  fc.constantFrom(33_333, 333_333, NEVER),
);
const which = fc.nat({ max: 50 });

const { reaction } = fc.letrec<{ reaction: Reaction }>((tie) => ({
  reaction: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constant({ kind: "nothing" as const }),
    fc.record({ kind: fc.constant("stop" as const), which }),
    fc.record({ kind: fc.constant("reset" as const), which, delay }),
    fc.record({ kind: fc.constant("repeat" as const), delay }),
    fc.record({ kind: fc.constant("arm" as const), delay, reaction: tie("reaction") }),
  ),
}));

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("arm" as const), delay, reaction }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("stop" as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("reset" as const), which, delay }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("tick" as const), period }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("take" as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("stop ticker" as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("reset ticker" as const), which, period }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom("step" as const, "step in bursts" as const, "stepSync" as const),
      duration: fc.integer({ min: 0, max: 30 }).map((tenths) => tenths * 100_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("set wall" as const),
      to: fc.integer({ min: -1e9, max: 1e9 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("dispose" as const) }) },
);

it("FakeClock behaves like a list of timers that is sorted for every step", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 40, size: "max" }), async (operations) => {
      const [real, model] = [new Real(), new Model()];
      const players = [new Player(real), new Player(model)] as const;
      for (const operation of operations) {
        for (const player of players) await player.play(operation);
        await new Promise((resolve) => setImmediate(resolve));
        model.tell();
        expect(real.state()).toEqual(model.state());
        expect(real.log).toEqual(model.log);
      }
    }),
  );
});
