import { type Clock, realClock } from "@holdfast/clock";
import type { Random } from "@holdfast/wait";
import type { RateLimiter } from "./rate-limiter.ts";

/**
 * The clock of a limiter, and its source of jitter: those of its options, or else those of the queue or controller that uses it. On another clock than
 * its queue a limiter would measure backoffs that never pass, or have always passed.
 *
 * A limiter that is used alone runs on `realClock` from its first use on.
 */
export class LimiterClock {
  static readonly #known = new WeakMap<RateLimiter, LimiterClock>();

  readonly #inner: readonly LimiterClock[];
  #clock: Clock | undefined = undefined;
  #random: Random | undefined;

  /** @param inner - the limiters that the limiter combines, which share its clock */
  constructor(limiter: RateLimiter, clock: Clock | undefined, inner: readonly RateLimiter[] = []) {
    LimiterClock.#known.set(limiter, this);
    this.#inner = inner.flatMap((other) => LimiterClock.#known.get(other) ?? []);
    const [known] = [clock, ...this.#inner.map((other) => other.#clock)].filter(Boolean);
    if (known !== undefined) this.#use(known, "limiters");
  }

  /**
   * Gives a limiter the clock of its queue, and the source of jitter of its controller. A limiter of the user's own has
   * neither.
   *
   * @throws TypeError if it is on another clock
   */
  static use(limiter: RateLimiter, clock: Clock, random?: Random): void {
    const known = LimiterClock.#known.get(limiter);
    if (known === undefined) return;
    known.#use(clock, "options.limiter");
    if (random !== undefined) known.#draw(random);
  }

  /** The source of jitter of the controller, if it has one. */
  get random(): Random | undefined {
    return this.#random;
  }

  get current(): Clock {
    if (this.#clock === undefined) this.#use(realClock, "limiters");
    return this.#clock as Clock;
  }

  monotonic(): number {
    return this.current.monotonic();
  }

  #draw(random: Random): void {
    this.#random ??= random;
    for (const inner of this.#inner) inner.#draw(random);
  }

  #use(clock: Clock, name: string): void {
    this.#clock ??= clock;
    if (this.#clock !== clock)
      throw new TypeError(
        `${name} must be on the clock of the queue: leave the option clock of the limiter out, or pass the same clock to both`,
      );
    for (const inner of this.#inner) inner.#use(clock, "limiters");
  }
}
