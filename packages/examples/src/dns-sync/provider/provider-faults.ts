import type { Random } from "@holdfast/wait";

/**
 * Faults of a provider.
 *
 * | Fault | The client sees |
 * | --- | --- |
 * | `outage` | 503 |
 * | `throttle` | 429 with `Retry-After: 1` |
 * | `html` | status 200 with an HTML page, as from a proxy |
 * | `hang` | no response |
 * | `reset` | a broken connection |
 * | `drop` | a broken connection after the request was carried out |
 * | `slow` | the normal response, one second late |
 */
export type ProviderFault = "outage" | "throttle" | "html" | "hang" | "reset" | "drop" | "slow";

interface Spell {
  readonly fault: ProviderFault;
  readonly share: number;
}

/** Faults in force, each for a share of the requests. */
export class ProviderFaults {
  readonly #spells = new Set<Spell>();
  readonly #random: Random;
  #met = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Number of requests that met a fault. */
  get met(): number {
    return this.#met;
  }

  get now(): readonly ProviderFault[] {
    return [...this.#spells].map(({ fault }) => fault);
  }

  /**
   * Applies a fault to a random share of the requests until the result is disposed.
   *
   * @param share - from 0 to 1, which is all requests
   */
  begin(fault: ProviderFault, share = 1): Disposable {
    const spell = { fault, share };
    this.#spells.add(spell);
    return { [Symbol.dispose]: () => void this.#spells.delete(spell) };
  }

  clear(): void {
    this.#spells.clear();
  }

  /** Chooses the fault of the next request. */
  draw(): ProviderFault | undefined {
    for (const { fault, share } of this.#spells) {
      if (this.#random() >= share) continue;
      this.#met += 1;
      return fault;
    }
    return undefined;
  }
}
