import type { Clock } from "@holdfast/clock";
import type { Runnable } from "@holdfast/controller";

export interface PartOptions {
  /** After how long it is ready, in milliseconds. At once if not given. */
  readonly readyAfter?: number;
  /** How long it takes to end after its abort. */
  readonly endsAfter?: number;
  /** When it ends by itself: with an error, if there is one. */
  readonly endsAt?: number;
  readonly error?: Error;
}

/** A runnable that notes when it starts, is ready and ends. */
export function part(
  name: string,
  clock: Clock,
  events: unknown[],
  { readyAfter, endsAfter = 0, endsAt = Number.POSITIVE_INFINITY, error }: PartOptions = {},
): Runnable {
  const start = clock.monotonic();
  const note = (event: string): void => {
    events.push([clock.monotonic() - start, `${name} ${event}`]);
  };
  const runnable: Runnable = {
    name,
    async run(signal) {
      note("starts");
      try {
        await clock.sleep(endsAt, { signal });
        if (error !== undefined) throw error;
      } catch (reason) {
        if (!signal.aborted) throw reason;
        if (endsAfter > 0) await clock.sleep(endsAfter);
        throw reason;
      } finally {
        note("ends");
      }
    },
  };
  if (readyAfter === undefined) return runnable;
  return {
    ...runnable,
    async ready(signal) {
      await clock.sleep(readyAfter, { signal });
      note("is ready");
    },
  };
}
