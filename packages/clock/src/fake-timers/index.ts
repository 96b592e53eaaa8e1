export type { FakeTimersClock } from "./fake-timers-clock.ts";
export { fromFakeTimers } from "./from-fake-timers.ts";
