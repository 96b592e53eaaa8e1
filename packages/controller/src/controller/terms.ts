import type { Hooks } from "@holdfast/kit";
import type { KeyShards, SlotLeadership } from "../key-shards.ts";
import type { Leadership } from "../leadership.ts";

/** The terms of a run. Without a leadership and without slots keys begin under none. */
export interface RunTerms {
  readonly leadership: Leadership | undefined;
  readonly shards: KeyShards | undefined;
  /** Called when the lease is over, once or more, before a key begins under it. */
  readonly onExpired: () => void;
}

/** The terms under which keys begin: one for all of them, or that of the slot of each. Before a run there is none. */
export class Terms {
  readonly #hooks: Hooks;
  readonly #slots = new Map<number, SlotLeadership>();
  #run: RunTerms = { leadership: undefined, shards: undefined, onExpired: () => {} };

  constructor(hooks: Hooks) {
    this.#hooks = hooks;
  }

  begin(run: RunTerms): void {
    this.#run = run;
  }

  /**
   * The term under which a key begins now.
   *
   * @returns undefined if there is none; `"foreign"` for a key of another process
   */
  of(key: string): Leadership | "foreign" | undefined {
    const { leadership, shards } = this.#run;
    if (shards !== undefined) return this.#ofSlot(shards.slotOf(key)) ?? "foreign";
    if (leadership === undefined) return undefined;
    // In a process that stood still, timers of work may fire before that of the term: without this question they would
    // begin work on a lease that another process holds. The leadership may be made by hand.
    let isHeld = false;
    try {
      ({ isHeld } = leadership);
    } catch (error) {
      this.#hooks.failed("leadership.isHeld", error);
    }
    if (!isHeld) this.#run.onExpired();
    return leadership;
  }

  /** Whether a key is of another process: in a slot that this one does not hold, or gives up. */
  isForeign(key: string): boolean {
    const { shards } = this.#run;
    return shards !== undefined && this.#ofSlot(shards.slotOf(key)) === undefined;
  }

  /** Keys of the slot begin under the term until this is disposed, or the term ends. */
  hold(term: SlotLeadership): Disposable {
    const { slot } = term;
    this.#slots.set(slot, term);
    return {
      [Symbol.dispose]: () => {
        // A slot that was lost may have come back while its keys ended.
        if (this.#slots.get(slot) === term) this.#slots.delete(slot);
      },
    };
  }

  #ofSlot(slot: number): Leadership | undefined {
    const term = this.#slots.get(slot);
    return term !== undefined && !term.signal.aborted && term.isHeld ? term : undefined;
  }
}
