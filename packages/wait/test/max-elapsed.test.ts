import { FakeClock } from "@holdfast/clock/testing";
import { retry } from "@holdfast/wait";
import { repeatBackoff, retryBackoff } from "@holdfast/wait/rxjs";
import { defer, EMPTY, type Observable, throwError } from "rxjs";
import { expect, it } from "vitest";

const backoff = { duration: 50_000, factor: 2 };

/** The instants of all attempts, in milliseconds after the first. */
type Attempts = (clock: FakeClock, maxElapsed: number) => Promise<number[]>;

function noting(clock: FakeClock): { readonly at: number[]; readonly note: () => void } {
  const start = clock.monotonic();
  const at: number[] = [];
  return { at, note: () => at.push(Math.round(clock.monotonic() - start)) };
}

function subscribing(
  pipe: (clock: FakeClock, maxElapsed: number, note: () => void) => Observable<never>,
): Attempts {
  return async (clock, maxElapsed) => {
    const { at, note } = noting(clock);
    pipe(clock, maxElapsed, note).subscribe({ error: () => {} });
    clock.stepSync(1_000_000);
    return at;
  };
}

const loops: Record<string, Attempts> = {
  async retry(clock, maxElapsed) {
    const { at, note } = noting(clock);
    const fail = () => {
      note();
      throw new Error("refused");
    };
    const end = clock.run(() => retry(fail, { backoff, maxElapsed, clock }));
    await expect(end).rejects.toThrow("refused");
    return at;
  },
  retryBackoff: subscribing((clock, maxElapsed, note) =>
    defer(() => {
      note();
      return throwError(() => new Error("refused"));
    }).pipe(retryBackoff({ backoff, maxElapsed, clock })),
  ),
  repeatBackoff: subscribing((clock, maxElapsed, note) =>
    defer(() => {
      note();
      return EMPTY;
    }).pipe(repeatBackoff({ backoff, maxElapsed, clock })),
  ),
};

const starts = [0, 0.1, 0.2, 0.3, 0.7, 1 / 3, 12_345.678_901];

it.each(Object.entries(loops))(
  "%s compares maxElapsed in whole nanoseconds, wherever the first attempt starts",
  async (_name, attempts) => {
    for (const start of starts) {
      const clock = new FakeClock();
      await clock.step(start);
      expect(await attempts(clock, 150_000)).toEqual([0, 50_000, 150_000]);
      expect(await attempts(clock, 150_000 - 1e-6)).toEqual([0, 50_000]);
      expect(clock.waiters()).toBe(0);
    }
  },
);
