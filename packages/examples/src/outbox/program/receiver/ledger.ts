/** One message as its receiver knows it. */
interface Entry {
  /** Attempts that are being handled now. */
  open: number;
  attempts: number;
  effects: number;
  duplicates: number;
}

/** What a receiver has seen and done. */
export interface LedgerCounts {
  readonly attempts: number;
  /** Messages whose effect took place. */
  readonly effects: number;
  /** Attempts that found the effect done already, and did nothing. */
  readonly duplicates: number;
  /** How often a message came while it was being handled: two senders had it at once. */
  readonly overlaps: number;
}

/** Remembers messages by their idempotency key, so that the effect of each takes place once. */
export class Ledger {
  readonly #entries = new Map<string, Entry>();
  #overlaps = 0;

  /** An attempt begins. @returns which one of the message it is, from 1 */
  open(id: string): number {
    const entry = this.#entries.get(id) ?? { open: 0, attempts: 0, effects: 0, duplicates: 0 };
    this.#entries.set(id, entry);
    if (entry.open > 0) this.#overlaps++;
    entry.open++;
    return ++entry.attempts;
  }

  /** The attempt is over, however it ended. */
  close(id: string): void {
    (this.#entries.get(id) as Entry).open--;
  }

  /** Lets the effect take place, unless it has. */
  apply(id: string): void {
    const entry = this.#entries.get(id) as Entry;
    if (entry.effects > 0) entry.duplicates++;
    else entry.effects++;
  }

  /** How often the effect of a message took place. */
  effectsOf(id: string): number {
    return this.#entries.get(id)?.effects ?? 0;
  }

  /** Every message that was ever seen. */
  get ids(): readonly string[] {
    return [...this.#entries.keys()];
  }

  counts(): LedgerCounts {
    const counts = { attempts: 0, effects: 0, duplicates: 0, overlaps: this.#overlaps };
    for (const { attempts, effects, duplicates } of this.#entries.values()) {
      counts.attempts += attempts;
      counts.effects += effects;
      counts.duplicates += duplicates;
    }
    return counts;
  }
}
