/** One message as its receiver knows it. */
interface Entry {
  /** Attempts that are being handled now. */
  open: number;
  attempts: number;
}

/** What a receiver has seen and done. */
export interface LedgerCounts {
  readonly attempts: number;
  /** Attempts that are being handled now. */
  readonly open: number;
  /** Attempts whose effect took place. */
  readonly effects: number;
  /** Attempts that found the effect done already, and did nothing. */
  readonly duplicates: number;
  /** How often a message came while it was being handled: two senders had it at once. */
  readonly overlaps: number;
}

/** Remembers what came, by idempotency key. */
export class Ledger {
  readonly #entries = new Map<string, Entry>();
  #attempts = 0;
  #open = 0;
  #effects = 0;
  #duplicates = 0;
  #overlaps = 0;

  /** An attempt begins. @returns which one of the message it is, from 1 */
  open(id: string): number {
    const entry = this.#entries.get(id) ?? { open: 0, attempts: 0 };
    this.#entries.set(id, entry);
    if (entry.open > 0) this.#overlaps++;
    entry.open++;
    this.#open++;
    this.#attempts++;
    return ++entry.attempts;
  }

  /** The attempt is over, however it ended. */
  close(id: string): void {
    (this.#entries.get(id) as Entry).open--;
    this.#open--;
  }

  /** An attempt was worth an effect, or came after it. */
  count(isFresh: boolean): void {
    if (isFresh) this.#effects++;
    else this.#duplicates++;
  }

  /** Every message that was ever seen. */
  get ids(): readonly string[] {
    return [...this.#entries.keys()];
  }

  get counts(): LedgerCounts {
    return {
      attempts: this.#attempts,
      open: this.#open,
      effects: this.#effects,
      duplicates: this.#duplicates,
      overlaps: this.#overlaps,
    };
  }
}
