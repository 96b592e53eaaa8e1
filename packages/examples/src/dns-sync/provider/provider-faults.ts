import type { Random } from "@holdfast/wait";

/**
 * What goes wrong at a provider.
 *
 * | Fault | The client sees |
 * | --- | --- |
 * | `outage` | 503 |
 * | `throttle` | 429 with `Retry-After: 1` |
 * | `html` | a page of a proxy, with status 200 |
 * | `hang` | nothing |
 * | `reset` | a broken connection |
 * | `lose` | a broken connection, although the request was carried out |
 * | `slow` | the right answer, a second later |
 */
export type ProviderFault = "outage" | "throttle" | "html" | "hang" | "reset" | "lose" | "slow";

interface Spell {
  readonly fault: ProviderFault;
  readonly share: number;
}

/** The faults of the day. */
export class ProviderFaults {
  readonly #spells = new Set<Spell>();
  readonly #random: Random;
  #met = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Requests that met a fault. */
  get met(): number {
    return this.#met;
  }

  /** The faults in force. */
  get now(): readonly ProviderFault[] {
    return [...this.#spells].map(({ fault }) => fault);
  }

  /**
   * Lets a share of all requests meet a fault, until the result is disposed of.
   *
   * @param share - 1 for all of them
   */
  begin(fault: ProviderFault, share = 1): Disposable {
    const spell = { fault, share };
    this.#spells.add(spell);
    return { [Symbol.dispose]: () => void this.#spells.delete(spell) };
  }

  clear(): void {
    this.#spells.clear();
  }

  /** The fault of a request. */
  draw(): ProviderFault | undefined {
    for (const { fault, share } of this.#spells) {
      if (this.#random() >= share) continue;
      this.#met += 1;
      return fault;
    }
    return undefined;
  }
}
