import { type GoFloat, type GoInt, toMilliseconds } from "./nanoseconds.ts";

/** An `ExponentialBackOff` of cenkalti, perhaps under `WithMaxRetries`, as it is recorded. */
export interface GoExponential {
  readonly initialInterval: GoInt;
  readonly randomizationFactor: GoFloat;
  readonly multiplier: GoFloat;
  readonly maxInterval: GoInt;
  readonly maxElapsedTime: GoInt;
  readonly stop: GoInt;
  readonly withMaxRetries?: number;
}

/** What a recorded `ExponentialBackOff` may consist of. */
export const EXPONENTIAL_FIELDS: readonly string[] = [
  "in.initialInterval",
  "in.randomizationFactor",
  "in.multiplier",
  "in.maxInterval",
  "in.maxElapsedTime",
  "in.stop",
  "in.withMaxRetries",
];

type Settings = Readonly<Record<"duration" | "factor" | "jitter" | "cap", number>>;

/** The same numbers under the names and in the units of Holdfast, in range or not. */
export function settingsOf(go: GoExponential): Settings {
  return {
    duration: toMilliseconds(go.initialInterval),
    factor: Number(go.multiplier),
    jitter: Number(go.randomizationFactor),
    cap: toMilliseconds(go.maxInterval),
  };
}

/** The options that Holdfast rejects; nothing else means what Go makes of them. */
export function rejectedOf(go: GoExponential): Record<string, number> {
  const { duration, factor, jitter, cap } = settingsOf(go);
  return {
    ...(duration >= 0 ? {} : { duration }),
    ...(factor > 0 && factor < Number.POSITIVE_INFINITY ? {} : { factor }),
    ...(jitter >= 0 && jitter <= 1 ? {} : { jitter }),
    ...(cap > 0 ? {} : { cap }),
  };
}

/** Go's limits, kept by whoever takes the delays. */
export class Limits {
  readonly #go: GoExponential;
  #retries = 0;
  /** In nanoseconds. */
  elapsed = 0;

  constructor(go: GoExponential) {
    this.#go = go;
  }

  reset(): void {
    this.#retries = 0;
    this.elapsed = 0;
  }

  /** Whether one more retry is allowed; counts it if so. */
  takeRetry(): boolean {
    const { withMaxRetries = Number.POSITIVE_INFINITY } = this.#go;
    if (this.#retries >= withMaxRetries) return false;
    this.#retries++;
    return true;
  }

  /** Whether a delay, in nanoseconds, ends in time. */
  hasTimeFor(delay: number): boolean {
    const most = Number(this.#go.maxElapsedTime);
    return most === 0 || this.elapsed + delay <= most;
  }
}

/** Go's delays on numbers that end at 2^63. */
export class ExponentialModel {
  readonly #go: GoExponential;
  #interval = 0;

  constructor(go: GoExponential) {
    this.#go = go;
    this.reset();
  }

  reset(): void {
    this.#interval = Number(this.#go.initialInterval);
  }

  next(uniform: number): number {
    const share = Number(this.#go.randomizationFactor);
    const interval = this.#interval;
    this.#grow();
    if (share === 0) return interval;
    const width = share * interval;
    const least = interval - width;
    const drawn = Math.trunc(least + uniform * (interval + width - least + 1));
    return Math.min(drawn, 2 ** 63);
  }

  #grow(): void {
    const multiplier = Number(this.#go.multiplier);
    const most = Number(this.#go.maxInterval);
    this.#interval =
      this.#interval >= most / multiplier ? most : Math.trunc(this.#interval * multiplier);
  }
}
