import type { Clock } from "@holdfast/clock";
import type { ResolvedExplore } from "./explore-options.ts";
import type { Fleet } from "./fleet.ts";
import { type Journal, restless } from "./journal.ts";
import type { Reconciles } from "./reconciles.ts";

/** A world that does not become quiet within so many times the time that counts as quiet. */
const MAX_ROUNDS = 100;

/** Milliseconds beyond quiet that a world goes on while it is not as expected, and the program waits for something. */
const EXTENSION = 1_800_000;

/** Longest wait for a world that does not become quiet, in milliseconds. */
export function longestWait({ quiet }: Pick<SettlingOptions, "quiet">): number {
  return MAX_ROUNDS * quiet;
}

/** The options that say when a world is over. */
type SettlingOptions = Pick<ResolvedExplore<never>, "quiet" | "longestTimer" | "upkeep">;

/** The parts of a world that can still be at work. */
export interface SettlingWorld {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly fleet: Fleet;
  readonly reconciles: Reconciles;
  /** Whether the state is the expected one. Undefined while nobody knows which that is. */
  isExpected(): boolean | undefined;
}

/** Waits until a world is over. */
export class Settling {
  readonly #options: SettlingOptions;
  readonly #world: SettlingWorld;

  constructor(options: SettlingOptions, world: SettlingWorld) {
    this.#options = options;
    this.#world = world;
  }

  /** What the program still has to do, in words. */
  get unsettled(): string | undefined {
    const { fleet, reconciles } = this.#world;
    if (fleet.exit !== undefined) return fleet.exit;
    return fleet.isDown ? "no replica runs" : reconciles.left;
  }

  /**
   * Resolves when the world is quiet, the timers that the program has armed until then have fired, and nothing is left
   * to do. Timers beyond the longest are not waited for, nor what has not settled by then. The value has their labels.
   */
  async untilSettled(): Promise<readonly string[]> {
    const { journal } = this.#world;
    const { longestTimer, quiet } = this.#options;
    const begun = journal.now;
    for (;;) {
      await this.untilQuiet(begun);
      const { busyAt } = journal;
      let { length } = journal.steps;
      let timers = this.#timersBy(Math.max(busyAt, begun) + longestTimer);
      await this.#sleep(timers.last - journal.now, "timers");
      const end = journal.now + Math.min(longestTimer, EXTENSION);
      while (busyAt === journal.busyAt && !this.#isSettled(length)) {
        timers = this.#timersBy(end);
        const mayWait = journal.now < end && this.unsettled !== undefined;
        if (timers.last < journal.now && !mayWait) break;
        length = journal.steps.length;
        await this.#sleep(Math.min(quiet, end - journal.now), "until settled");
      }
      if (busyAt === journal.busyAt) return timers.later;
    }
  }

  /** Resolves when nothing has changed, and no replica has started, for the time that counts as quiet. */
  async untilQuiet(begun: number): Promise<void> {
    const { clock, journal, fleet } = this.#world;
    const { quiet } = this.#options;
    for (;;) {
      const left = Math.max(journal.busyAt, begun) + quiet - journal.now;
      if (left <= 0 && !(fleet.isDown && fleet.exit === undefined)) return;
      if (journal.now - begun > longestWait(this.#options)) throw new Error(restless(journal).text);
      await clock.sleep(Math.max(left, 1_000), { label: "until quiet" });
    }
  }

  /** Sleeps, and a second longer, for what the timers at the end begin, also those that are due now. */
  async #sleep(duration: number, label: string): Promise<void> {
    if (duration >= 0) await this.#world.clock.sleep(duration + 1_000, { label });
  }

  /** Whether nothing is left to do: while the last state is not known, there were no steps after so many. */
  #isSettled(steps: number): boolean {
    if (this.unsettled !== undefined) return false;
    return this.#world.isExpected() ?? this.#world.journal.steps.length === steps;
  }

  /** The instant of the last timer of the program that is due by then, and the labels of those that are due later. */
  #timersBy(end: number): { readonly last: number; readonly later: readonly string[] } {
    const { journal, fleet } = this.#world;
    const later = new Set<string>();
    let last = 0;
    for (const { label, deadline } of fleet.pending()) {
      if (this.#options.upkeep.includes(label ?? "")) continue;
      const instant = journal.instantOf(deadline);
      if (instant <= end) last = Math.max(last, instant);
      else if (instant < Number.POSITIVE_INFINITY) later.add(label ?? "without a label");
    }
    return { last, later: [...later] };
  }
}
