import type { PassiveClock } from "@holdfast/clock";
import { type Arrival, Handling } from "./handling.ts";
import { nextTurn } from "./next-turn.ts";
import { type Overlap, overlappingOf } from "./overlap.ts";
import type { Standstill } from "./standstill.ts";

/** One message as its receiver knows it. */
interface Entry {
  /** Attempts that are being handled now, the oldest first, and when each came. */
  readonly open: Map<Handling, number>;
  attempts: number;
}

/** Counts of a receiver. */
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

/** Options for a {@link Ledger}. */
export interface LedgerOptions {
  readonly clock: PassiveClock;
  readonly standstill: Pick<Standstill, "since">;
}

/** Records attempts by idempotency key. */
export class Ledger {
  readonly #options: LedgerOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #overlaps: Overlap[] = [];
  #attempts = 0;
  #open = 0;
  #effects = 0;
  #duplicates = 0;

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  /** An attempt begins. */
  open(arrival: Arrival): Handling {
    const { id } = arrival;
    const entry = this.#entries.get(id) ?? { open: new Map(), attempts: 0 };
    this.#entries.set(id, entry);
    const handling = new Handling(arrival, ++entry.attempts, () => {
      entry.open.delete(handling);
      this.#open--;
    });
    const earlier = [...entry.open];
    entry.open.set(handling, this.#options.clock.monotonic());
    this.#open++;
    this.#attempts++;
    if (earlier.length > 0) {
      const judged = this.#judge(handling, earlier);
      for (const each of entry.open.keys()) each.judged = judged;
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

  get overlaps(): readonly Overlap[] {
    return this.#overlaps;
  }

  get counts(): LedgerCounts {
    return {
      attempts: this.#attempts,
      open: this.#open,
      effects: this.#effects,
      duplicates: this.#duplicates,
      overlaps: this.#overlaps.length,
    };
  }

  /**
   * Counts an attempt that came while others of the same message were open, unless it turns out that
   * one of the two had been given up before.
   *
   * A busy receiver sees events of several connections in any order. It accepts one new connection per turn of
   * the event loop, so a request may wait longer than its sender. The receiver then reads the request first, and
   * one turn later the end of its connection, while it already handles the next attempt on an older connection.
   * So the check runs one turn later: attempts that ended before the later one was read are known to have ended
   * by then. It misses an overlap only if a sender gives up in this turn.
   */
  async #judge(later: Handling, earlier: readonly (readonly [Handling, number])[]): Promise<void> {
    const { clock, standstill } = this.#options;
    const now = clock.monotonic();
    await nextTurn();
    const found = later.isLeft ? undefined : earlier.find(([handling]) => !handling.isLeft);
    if (found === undefined) return;
    const [handling, since] = found;
    this.#overlaps.push({
      id: later.id,
      earlier: overlappingOf(handling),
      later: overlappingOf(later),
      open: Math.round(now - since),
      stood: Math.round(standstill.since(since)),
    });
  }
}
