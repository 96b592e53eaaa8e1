import { aborted, type Clock, onAbort } from "@holdfast/clock";
import type { KeyShards, SlotLeadership } from "../key-shards.ts";
import type { Leadership } from "../leadership.ts";
import { Waiters } from "../waiters.ts";
import type { Run } from "./run.ts";
import type { Sources } from "./sources.ts";
import { within } from "./within.ts";

/** What {@link SlotTerms} need of their controller. */
export interface SlotTermsOptions<Item> {
  readonly clock: Clock;
  /** Maximum time to finish the keys of a slot that is given up, in milliseconds. */
  readonly grace: number;
  readonly keyOf: (item: Item) => string;
  readonly sources: Pick<Sources<Item>, "replay">;
  readonly workers: { readonly runs: Iterable<Run<Item>> };
}

/** The slots whose keys a controller works on, as they come and go. */
export class SlotTerms<Item> {
  readonly #shards: KeyShards;
  readonly #options: SlotTermsOptions<Item>;
  readonly #terms = new Map<number, SlotLeadership>();
  readonly #changes = new Waiters<void>();

  constructor(shards: KeyShards, options: SlotTermsOptions<Item>) {
    this.#shards = shards;
    this.#options = options;
  }

  /** The term under which a key may begin. Undefined for a key of another process, and of a slot that is given up. */
  leadershipOf(key: string): Leadership | undefined {
    const term = this.#terms.get(this.#shards.slotOf(key));
    return term !== undefined && !term.signal.aborted && term.isHeld ? term : undefined;
  }

  /** A run has settled, or is stuck. */
  changed(): void {
    this.#changes.resolveAll();
  }

  /** Works on the keys of a slot until its term ends, then finishes those in flight. */
  async lead(term: SlotLeadership): Promise<void> {
    const { slot, signal, lost } = term;
    const { clock, grace, keyOf, sources } = this.#options;
    if (signal.aborted) return;
    this.#terms.set(slot, term);
    const subscription = onAbort(lost, (reason) => this.#abort(term, reason));
    const isOfSlot = (item: Item): boolean => this.#shards.slotOf(keyOf(item)) === slot;
    sources.replay(isOfSlot);
    await aborted(signal);
    await within(grace, (expired) => this.#idle(term, expired), clock);
    this.#abort(term, signal.reason);
    await this.#idle(term);
    subscription[Symbol.dispose]();
    // A slot that was lost may have come back while its keys ended.
    if (this.#terms.get(slot) === term) this.#terms.delete(slot);
  }

  /** Resolves when no key of a term is in flight, but for stuck ones. */
  async #idle(term: Leadership, signal?: AbortSignal): Promise<void> {
    const isInFlight = ({ leadership, state }: Run<Item>): boolean =>
      leadership === term && state !== "stuck";
    while ([...this.#options.workers.runs].some(isInFlight)) await this.#changes.wait(signal);
  }

  #abort(term: Leadership, reason: unknown): void {
    for (const run of this.#options.workers.runs)
      if (run.leadership === term) run.abort("stop", reason);
  }
}
