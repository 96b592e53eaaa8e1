import { expect, onTestFinished } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import { type Timeline, timelineOf } from "../../../test/timeline.ts";
import type { Harness } from "./harness.ts";

/** Clock, signal and timeline of a test. */
export interface Stage {
  readonly harness: Harness;
  /** Aborts the loop of the test. */
  readonly stop: AbortController;
  readonly timeline: Timeline;
  /** Fails if a timer is armed or a listener is on the signal. */
  expectNothingLeft(): void;
}

/** A stage for one test. Its loop must have ended at the end of the test. */
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
