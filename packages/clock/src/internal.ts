/**
 * What the packages of this repository share. Not part of the public surface: it may change with
 * any minor version.
 *
 * @internal
 * @packageDocumentation
 */
export {
  requireAbove,
  requireArray,
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
  requireString,
  requireText,
  requireWhole,
} from "./arguments.ts";
export { Grid } from "./grid.ts";
export { type HeapEntry, TimerHeap } from "./timer-heap.ts";
export { toNanosecond } from "./to-nanosecond.ts";
