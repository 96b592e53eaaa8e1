/**
 * Time as an argument: the real clock, timers, tickers, sleeps and abort listeners.
 *
 * @packageDocumentation
 */

export { abortable, aborted, type LateResult } from "./abort/abortable.ts";
export { LinkedController } from "./abort/linked-controller.ts";
export { onAbort } from "./abort/on-abort.ts";
export { BaseClock } from "./base-clock.ts";
export { BaseTimer } from "./base-timer.ts";
export type {
  Clock,
  PassiveClock,
  SleepOptions,
  Ticker,
  TimeoutOptions,
  TimeoutSignal,
  Timer,
  TimerOptions,
} from "./clock.ts";
export { type ErrorClass, findError } from "./find-error.ts";
export { realClock } from "./real-clock.ts";
