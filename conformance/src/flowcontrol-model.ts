import type { FlowcontrolInput, FlowcontrolOp } from "./flowcontrol-case.ts";
import type { Fields } from "./trace.ts";

interface Entry {
  readonly backoff: number;
  readonly updatedAt: number;
}

const LONGEST = 2 ** 63;

/** Go's flowcontrol.Backoff on numbers that end at 2^63: what rule `no-overflow` promises. */
export class FlowcontrolModel {
  readonly #initial: number;
  readonly #max: number;
  readonly #jitter: number;
  readonly #longestIdle: number;
  readonly #draw: () => number;
  readonly #entries = new Map<string, Entry>();
  #now = 0;

  constructor(
    { initial, max, maxJitterFactor, hasExpired = 2 }: FlowcontrolInput,
    draw: () => number,
  ) {
    this.#initial = Math.min(Number(initial), LONGEST);
    this.#max = Math.min(Number(max), LONGEST);
    this.#jitter = maxJitterFactor;
    this.#longestIdle = hasExpired < 0 ? LONGEST : hasExpired * this.#max;
    this.#draw = draw;
  }

  apply(op: FlowcontrolOp): Fields {
    switch (op[0]) {
      case "get":
        return { d: BigInt(this.#entries.get(op[1])?.backoff ?? 0) };
      case "next":
        return { d: this.#next(op[1], Number(op[2])) };
      case "since":
        return { b: this.#isWithin(op[1], Number(op[2]), this.#now - Number(op[2])) };
      case "sinceUpdate": {
        const since = Number(op[2]) - (this.#entries.get(op[1])?.updatedAt ?? 0);
        return { b: this.#isWithin(op[1], Number(op[2]), since) };
      }
      case "gc":
        for (const [key, entry] of this.#entries)
          if (this.#hasExpired(entry, this.#now)) this.#entries.delete(key);
        return { keys: BigInt(this.#entries.size) };
      case "reset":
      case "deleteEntry":
        this.#entries.delete(op[1]);
        return { keys: BigInt(this.#entries.size) };
      case "step":
        this.#now += Number(op[1]);
        return {};
      default:
        throw new Error(`unknown operation ${op[0]}`);
    }
  }

  #next(key: string, at: number): bigint {
    const entry = this.#entries.get(key);
    const first = entry === undefined || this.#hasExpired(entry, at);
    const backoff = first
      ? this.#initial + this.#share(this.#initial)
      : Math.min(2 * entry.backoff + this.#share(entry.backoff), this.#max);
    this.#entries.set(key, { backoff: Math.min(backoff, LONGEST), updatedAt: this.#now });
    return BigInt(Math.min(backoff, LONGEST));
  }

  #share(delay: number): number {
    return this.#jitter > 0 ? Math.floor(this.#draw() * this.#jitter * delay) : 0;
  }

  #isWithin(key: string, at: number, passed: number): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && !this.#hasExpired(entry, at) && passed < entry.backoff;
  }

  #hasExpired({ updatedAt }: Entry, at: number): boolean {
    return at - updatedAt > this.#longestIdle;
  }
}
