/**
 * A Holdfast clock over the fake timers of sinon, vitest or jest.
 *
 * @packageDocumentation
 */

export type { FakeTimersClock } from "./fake-timers-clock.ts";
export { fromFakeTimers } from "./from-fake-timers.ts";
