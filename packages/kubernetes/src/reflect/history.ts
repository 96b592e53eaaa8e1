import type { Clock } from "@holdfast/clock";
import { type StepFacts, WATCH_PERIOD } from "./next-step.ts";

/** A watch that begins within this time after an event, a bookmark or a list needs no probe, in milliseconds. */
const FRESH = 60_000;

/** What a reflector has asked for and heard: counts, and instants of the monotonic clock. */
export class History {
  /** Number of lists that were begun. */
  lists = 0;
  /** Number of the last complete list, and its instant. */
  listed = 0;
  listedAt: number = Number.NEGATIVE_INFINITY;
  /** Number of watches that were asked for. */
  watches = 0;
  /** Version of the server in the last probe since the last list. Older events say nothing about its state now. */
  probed: string | undefined = undefined;
  /** When the last event or bookmark came that was not older than the probe, or the last list was complete. */
  heardAt: number | undefined = undefined;
  /** Time of the last event on the wall clock. */
  lastEventAt: number | undefined = undefined;
  readonly #clock: Clock;
  /** When the last list ended, complete or not. */
  #listEndedAt: number = Number.NEGATIVE_INFINITY;
  /** Instants at which watches were asked for, within the period that counts. */
  #recentWatches: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  listComplete(): void {
    this.probed = undefined;
    this.listed = this.lists;
    this.listedAt = this.#clock.monotonic();
    this.hear();
  }

  listEnded(): void {
    this.#listEndedAt = this.#clock.monotonic();
  }

  watchBegins(): void {
    this.watches++;
    this.#recentWatches.push(this.#clock.monotonic());
  }

  hear(): void {
    this.heardAt = this.#clock.monotonic();
  }

  endOfRun(): void {
    this.#recentWatches = [];
  }

  /** Whether the server was heard lately. */
  get isFresh(): boolean {
    return this.#clock.monotonic() - (this.heardAt ?? 0) < FRESH;
  }

  /** The facts for the next step. */
  facts(): Pick<StepFacts, "sinceList" | "silentFor" | "watches"> {
    const now = this.#clock.monotonic();
    this.#recentWatches = this.#recentWatches.filter((at) => now - at < WATCH_PERIOD);
    return {
      sinceList: now - this.#listEndedAt,
      silentFor: now - (this.heardAt ?? now),
      watches: this.#recentWatches.length,
    };
  }
}
