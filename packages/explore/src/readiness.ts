import type { Clock } from "@holdfast/clock";
import { deferred } from "@holdfast/kit";

/** The program does not become ready. */
export class StartError extends Error {}

/** Whether the program of a world is ready for its users. */
export class Readiness {
  /** Whether the program has said how far it is. */
  isKnown = false;

  /** The part of the start that is not over. */
  part: string | undefined;
  #onReady: (() => void) | undefined;

  /** The part of the start that begins. Undefined: the program is ready. */
  begin(part: string | undefined): void {
    this.isKnown = true;
    this.part = part;
    if (part === undefined) this.#onReady?.();
  }

  /** @throws StartError if the program is not ready after so many milliseconds */
  async wait(clock: Clock, limit: number): Promise<void> {
    const timer = clock.newTimer(limit, { label: "ready" });
    const { promise: ready, resolve } = deferred<boolean>();
    this.#onReady = () => resolve(false);
    const isLate = await Promise.race([ready, timer.fired]);
    timer.stop();
    if (isLate) throw new StartError(`the program never becomes ready: ${this.part} does not end`);
  }
}
