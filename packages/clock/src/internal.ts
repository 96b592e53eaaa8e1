/**
 * What the packages of this repository share. Not part of the public surface: it may change with
 * any minor version.
 *
 * @internal
 * @packageDocumentation
 */
export {
  requireAbove,
  requireAtLeast,
  requireBetween,
  requireBoolean,
  requireClock,
  requireDelay,
  requireFinite,
  requireFunction,
  requireHooks,
  requireInstant,
  requireMethods,
  requireNotNegative,
  requireOptions,
  requirePositive,
  requireSignal,
  requireWhole,
} from "./arguments.ts";
export { type HeapEntry, TimerHeap } from "./timer-heap.ts";
export { toNanosecond } from "./to-nanosecond.ts";
