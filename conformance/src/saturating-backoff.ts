/** The numbers of a backoff in nanoseconds; 0 says none, as in Go. */
export interface Growth {
  readonly duration: number;
  readonly factor: number;
  readonly jitter: number;
  readonly steps: number;
  readonly cap: number;
}

const LONGEST = 2 ** 63;

/** Go's algorithm on numbers that end at 2^63: what rule `no-overflow` promises. */
export class SaturatingBackoff {
  readonly #growth: Growth;
  duration = 0;
  steps = 0;

  constructor(growth: Growth) {
    this.#growth = growth;
    this.reset();
  }

  reset(): void {
    this.duration = Math.min(this.#growth.duration, LONGEST);
    this.steps = Math.max(this.#growth.steps, 0);
  }

  step(draw: () => number): bigint {
    const { jitter } = this.#growth;
    const delay = this.duration;
    this.#grow();
    return BigInt(jitter > 0 ? addShare(delay, jitter, draw()) : delay);
  }

  #grow(): void {
    const { factor, cap } = this.#growth;
    if (this.steps === 0) return;
    this.steps--;
    if (factor === 0) return;
    const limit = cap > 0 ? Math.min(cap, LONGEST) : LONGEST;
    const next = Math.floor(this.duration * factor);
    this.duration = Math.min(next, limit);
    if (next > limit) this.steps = 0;
  }
}

/** Go's Jitter on numbers that end at 2^63. */
export function addShare(duration: number, maxFactor: number, uniform: number): number {
  return Math.min(duration + Math.floor(uniform * maxFactor * duration), LONGEST);
}
