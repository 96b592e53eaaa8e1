/**
 * `FakeClock`: tests of code that waits, exact and without waiting.
 *
 * @packageDocumentation
 */

export {
  DeadlockError,
  type DeadlockFacts,
  isDeadlockError,
} from "./deadlock-error.ts";
export { FakeClock, type FakeClockOptions } from "./fake-clock.ts";
export { isLivelockError, LivelockError } from "./livelock-error.ts";
export type {
  ClockRunOptions,
  ClockStepOptions,
  PendingTimer,
  TestClock,
  WaitForWaitersOptions,
} from "./test-clock.ts";
