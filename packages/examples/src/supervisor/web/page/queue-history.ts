import type { QueueSnapshot } from "../snapshot.ts";

/** How a queue was from an instant on. */
export interface Sample {
  readonly at: number;
  readonly queue: QueueSnapshot;
}

/** How far back it is shown, in milliseconds. */
export const WINDOW = 60_000;

/** A queue over the last minute. */
export class QueueHistory {
  #samples: readonly Sample[] = [];

  /** The oldest first. The first one may be older than the minute: it tells how the minute began. */
  get samples(): readonly Sample[] {
    return this.#samples;
  }

  add(sample: Sample): void {
    const begin = sample.at - WINDOW;
    const rest = this.#samples.filter(({ at }, index, all) => {
      return at > begin || (all[index + 1]?.at ?? sample.at) > begin;
    });
    this.#samples = [...rest, sample];
  }
}
