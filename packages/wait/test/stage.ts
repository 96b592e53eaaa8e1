import { expect, onTestFinished } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import { type Timeline, timelineOf } from "../../../test/timeline.ts";
import type { Harness } from "./harness.ts";

/** Reasons for an abort: each has to come out as it is, also one that is false or has no text. */
export const REASONS: readonly unknown[] = [undefined, null, 0, "", Number.NaN, new Error("stop")];

/** Values that a function may throw. */
export const FAILURES: readonly unknown[] = [
  new Error("refused"),
  new TypeError("fetch failed"),
  "refused",
  0,
  null,
  undefined,
];

/** Where a test lets a loop run. */
export interface Stage {
  readonly harness: Harness;
  /** Stops what listens to its signal. */
  readonly stop: AbortController;
  readonly timeline: Timeline;
  /** Fails unless no timer is armed and nobody listens to the signal. */
  expectNothingLeft(): void;
}

/** A stage for one test. Whatever happened in it, its loop has to have ended by then. */
export function stageOn(open: () => Harness): Stage {
  const harness = open();
  const stop = new AbortController();
  const expectNothingLeft = (): void => {
    const left = { timers: harness.waiters(), listeners: abortListeners(stop.signal) };
    expect(left).toEqual({ timers: 0, listeners: 0 });
  };
  onTestFinished(() => {
    try {
      expectNothingLeft();
    } finally {
      harness.close();
    }
  });
  return { harness, stop, timeline: timelineOf(harness.clock), expectNothingLeft };
}
