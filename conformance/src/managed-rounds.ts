import { FakeClock } from "@holdfast/clock/testing";
import type { BackoffManager } from "@holdfast/wait";
import { type GoInt, toMilliseconds } from "./nanoseconds.ts";
import { type Arming, RecordingClock } from "./recording-clock.ts";

/** What a manager did, round by round. */
export type Rounds = {
  /** The delay with which it armed its timer. */
  readonly out: readonly bigint[];
  /** 1 if the timer of the round before had fired by then. */
  readonly fired: readonly bigint[];
};

/** Lets `advances` pass one after the other and asks the manager for a timer after each. */
export function managedRounds(
  advances: readonly GoInt[],
  create: (clock: RecordingClock) => BackoffManager,
): Rounds {
  const clock = new FakeClock();
  const recording = new RecordingClock(clock);
  const manager = create(recording);
  let isArmed = false;
  const fired = advances.map((advance) => {
    clock.stepSync(toMilliseconds(advance));
    const hasFired = isArmed && clock.waiters() === 0;
    manager.backoff();
    isArmed = true;
    return hasFired ? 1n : 0n;
  });
  return { out: recording.armings.map(({ d }: Arming) => d), fired };
}
