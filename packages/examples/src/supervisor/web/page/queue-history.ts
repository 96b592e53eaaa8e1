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
    const rest = this.#samples.filter(
      (_, index, { [index + 1]: next = sample }) => next.at > begin,
    );
    // A clock that was set back makes the past unreadable.
    this.#samples = [...rest.filter(({ at }) => at <= sample.at), sample];
  }
}
