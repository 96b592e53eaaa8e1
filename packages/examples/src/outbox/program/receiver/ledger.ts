import { Handling } from "./handling.ts";
import { nextTurn } from "./next-turn.ts";

/** One message as its receiver knows it. */
interface Entry {
  /** Attempts that are being handled now, the oldest first. */
  readonly open: Set<Handling>;
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

  /** An attempt begins. */
  open(id: string): Handling {
    const entry = this.#entries.get(id) ?? { open: new Set(), attempts: 0 };
    this.#entries.set(id, entry);
    const handling = new Handling(++entry.attempts, () => {
      entry.open.delete(handling);
      this.#open--;
    });
    const earlier = [...entry.open];
    entry.open.add(handling);
    this.#open++;
    this.#attempts++;
    if (earlier.length > 0) {
      const judged = this.#judge(handling, earlier);
      for (const each of entry.open) each.judged = judged;
    }
    return handling;
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

  /**
   * Counts an attempt that came while others of the same message were open, unless it turns out that
   * one of the two had been given up before.
   *
   * A receiver that is busy learns in any order what happened on several connections. It takes one new
   * connection a turn, so that a request on it may wait for longer than its sender does. It is read
   * then, and only a turn later the end of its connection, while the next attempt, on a connection that
   * was there before, is being handled already. So the question is asked a turn later: what had come to
   * an end before the later one was read is known to have ended by then. An overlap is missed only if
   * one of its senders gives up in this very turn.
   */
  async #judge(later: Handling, earlier: readonly Handling[]): Promise<void> {
    await nextTurn();
    if (!later.isLeft && earlier.some(({ isLeft }) => !isLeft)) this.#overlaps++;
  }
}
