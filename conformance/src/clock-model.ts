import type { ClockOp } from "./clock-case.ts";
import type { RuleId, RuleSet } from "./rules.ts";
import type { Fields, Trace } from "./trace.ts";

type Kind = "timer" | "afterFunc" | "ticker";

interface Waiter {
  readonly id: number;
  readonly kind: Kind;
  /** 0 for what fires once. */
  readonly period: bigint;
  target: bigint;
  /** When it was last armed: decides between equal targets. */
  turn: number;
  /** The one value that its channel holds. */
  slot: bigint | undefined;
}

/**
 * A clock of whole nanoseconds that follows the rules in `here` and is Go's fake clock otherwise.
 *
 * With no rule it must give every recorded trace of that clock, and with all of them every trace of
 * ours: that is how a rule is known to be the whole difference.
 */
export class ClockModel {
  readonly #here: RuleSet;
  readonly #runsByItself: boolean;
  #now = 0n;
  #turn = 0;
  /** Everything ever made, in the order of ids. */
  readonly #objects = new Map<number, Waiter>();
  /** What is armed, in the order in which Go keeps it. */
  #armed: Waiter[] = [];
  /** What the current operation did. */
  #fired: Trace[] = [];
  #callbacks: Trace[] = [];

  /**
   * @param here - the rules it follows
   * @param runsByItself - whether what is due fires without anybody moving the time
   */
  constructor(here: RuleSet, runsByItself: boolean) {
    this.#here = here;
    this.#runsByItself = runsByItself;
  }

  /** Carries out an operation and tells what it did. */
  apply([name, ...args]: ClockOp): Fields {
    this.#fired = [];
    this.#callbacks = [];
    const fields = this.#operate(name, args.map(BigInt));
    if (this.#runsByItself) this.#advance(this.#now);
    return {
      now: this.#now,
      w: BigInt(this.#armed.length),
      targets: this.#inOrder().map(({ target }) => target),
      fired: this.#fired,
      blocked: this.#fired.length > 0 ? true : undefined,
      cb: this.#callbacks,
      ...fields,
    };
  }

  /** Empties all channels and tells what was in them, but for those of callbacks. */
  drain(): Trace {
    const objects = [...this.#objects.values()];
    const full = objects.filter(({ kind, slot }) => kind !== "afterFunc" && slot !== undefined);
    const fired = full.map(({ id, slot }) => [BigInt(id), slot]);
    for (const object of objects) object.slot = undefined;
    return fired;
  }

  #operate(name: string, [first = 0n, second = 0n]: readonly bigint[]): Fields {
    const id = Number(first);
    switch (name) {
      case "newTimer":
      case "after":
        return this.#create(id, "timer", second);
      case "afterFunc":
        return this.#create(id, "afterFunc", second);
      case "newTicker":
      case "tick":
        return this.#createTicker(id, second, name);
      case "stop":
        return { b: this.#stop(id) };
      case "reset":
        return { b: this.#reset(id, second) };
      case "tickerStop":
        return this.#stopTicker(id);
      case "recv":
        return { recv: this.#receive(id) };
      case "since":
        return { since: this.#now - first };
      case "step":
        return this.#move(this.#now + first, "duration");
      case "setTime":
        return this.#move(first, "instant");
      case "sleep":
        return this.#sleep(first);
      default:
        throw new Error(`unknown operation ${name}`);
    }
  }

  #is(rule: RuleId): boolean {
    return this.#here.has(rule);
  }

  #create(id: number, kind: Kind, delay: bigint, period = 0n): Fields {
    const waiter = { id, kind, period, target: 0n, turn: 0, slot: undefined };
    this.#objects.set(id, waiter);
    this.#arm(waiter, delay);
    return {};
  }

  #createTicker(id: number, period: bigint, name: "newTicker" | "tick"): Fields {
    if (period <= 0n && this.#is("rejected-at-the-door")) return { rejected: "period" };
    if (period <= 0n && name === "tick") return { nilChan: true };
    return this.#create(id, "ticker", period, period);
  }

  #arm(waiter: Waiter, delay: bigint): void {
    waiter.target = this.#now + (delay < 0n && this.#is("late-is-now") ? 0n : delay);
    waiter.turn = this.#turn++;
    if (!this.#armed.includes(waiter)) this.#armed.push(waiter);
  }

  #disarm(waiter: Waiter): boolean {
    const { length } = this.#armed;
    this.#armed = this.#armed.filter((other) => other !== waiter);
    return this.#armed.length < length;
  }

  #stop(id: number): boolean {
    const waiter = this.#objects.get(id);
    if (waiter === undefined) return false;
    return this.#disarm(waiter) || this.#discard(waiter);
  }

  #reset(id: number, delay: bigint): boolean {
    const waiter = this.#objects.get(id);
    if (waiter === undefined) return false;
    const wasActive = this.#armed.includes(waiter) || this.#discard(waiter);
    if (this.#is("nothing-stale")) waiter.slot = undefined;
    this.#arm(waiter, delay);
    return wasActive;
  }

  /** A firing that nobody received counts as prevented. */
  #discard(waiter: Waiter): boolean {
    if (this.#is("fired-is-fired") || waiter.kind === "afterFunc") return false;
    const isFull = waiter.slot !== undefined;
    waiter.slot = undefined;
    return isFull;
  }

  #stopTicker(id: number): Fields {
    const ticker = this.#objects.get(id);
    if (ticker !== undefined && this.#is("ticker-stops")) {
      this.#disarm(ticker);
      ticker.slot = undefined;
    }
    return {};
  }

  #receive(id: number): bigint | null {
    const object = this.#objects.get(id);
    const value = object?.slot ?? null;
    if (object !== undefined) object.slot = undefined;
    return value;
  }

  #move(instant: bigint, argument: string): Fields {
    if (instant < this.#now && this.#is("time-goes-forward")) return { rejected: argument };
    this.#advance(instant);
    return {};
  }

  #sleep(duration: bigint): Fields {
    const slept = { now: this.#now, w: BigInt(this.#armed.length + 1) };
    this.#advance(this.#now + duration);
    return this.#is("sleep-waits") ? { slept } : {};
  }

  #advance(end: bigint): void {
    if (this.#is("own-instant")) {
      for (let next = this.#due(end); next !== undefined; next = this.#due(end)) {
        if (next.target > this.#now) this.#now = next.target;
        this.#fire(next);
      }
      this.#now = end;
    } else {
      this.#now = end;
      for (const waiter of this.#armed.filter(({ target }) => target <= end)) this.#fire(waiter);
    }
  }

  #due(end: bigint): Waiter | undefined {
    return this.#inOrder().find(({ target }) => target <= end);
  }

  #inOrder(): readonly Waiter[] {
    if (!this.#is("own-instant")) return this.#armed;
    return this.#armed.toSorted((a, b) => Number(a.target - b.target) || a.turn - b.turn);
  }

  #fire(waiter: Waiter): void {
    if (waiter.kind === "ticker") {
      waiter.slot ??= this.#now;
      this.#rearm(waiter);
      return;
    }
    this.#disarm(waiter);
    // Go waits forever until somebody empties the channel; the recording did so.
    if (waiter.slot !== undefined) this.#fired.push([BigInt(waiter.id), waiter.slot, "unblocked"]);
    waiter.slot = this.#now;
    if (waiter.kind === "afterFunc") this.#callbacks.push([BigInt(waiter.id), this.#now]);
  }

  #rearm(ticker: Waiter): void {
    if (ticker.period <= 0n) this.#disarm(ticker);
    else while (ticker.target <= this.#now) ticker.target += ticker.period;
    ticker.turn = this.#turn++;
  }
}
