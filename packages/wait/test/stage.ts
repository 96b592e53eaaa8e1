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

/** An error that throws each time it is read. */
export function unreadable(): unknown {
  const { proxy, revoke } = Proxy.revocable(new Error("revoked"), {});
  revoke();
  return proxy;
}

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
