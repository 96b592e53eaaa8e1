import type { Clock } from "@holdfast/clock";
import { fromScheduler } from "@holdfast/clock/rxjs";
import { type RunHelpers, TestScheduler } from "rxjs/testing";
import { expect } from "vitest";

/** Runs a marble test; the clock it passes on is the time of the test. */
export function marbles(test: (helpers: RunHelpers & { readonly clock: Clock }) => void): void {
  const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
  scheduler.run((helpers) => test({ ...helpers, clock: fromScheduler(scheduler) }));
}
