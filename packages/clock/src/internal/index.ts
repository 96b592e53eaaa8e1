/**
 * Code shared by the Holdfast packages. Not public: it is not in the reference and may change with any
 * minor version.
 *
 * @hidden
 * @packageDocumentation
 */
export { AbortList } from "../abort/abort-list.ts";
export { abortable, aborted, type LateResult } from "../abort/abortable.ts";
export { LinkedController } from "../abort/linked-controller.ts";
export { Waiters } from "../abort/waiters.ts";
export { callInOwnContext, recaptureStack } from "../host/platform.ts";
export {
  type OptionNames,
  requireAbove,
  requireAnswer,
  requireArray,
  requireAtLeast,
  requireBetween,
  requireBoolean,
  requireClock,
  requireCount,
  requireDelay,
  requireFinite,
  requireFunction,
  requireHooks,
  requireInstant,
  requireMethods,
  requireNotNegative,
  requireObject,
  requireOptions,
  requirePositive,
  requireSignal,
  requireString,
  requireText,
  requireWhole,
} from "./arguments.ts";
export { callSafely, isThenable } from "./call-safely.ts";
export { deferred } from "./deferred.ts";
export { findByCode, isStop, TIMEOUT_CODE } from "./error-chain.ts";
export { holdOpen, type LoopClock, simulatedTime, yieldTurn } from "./event-loop.ts";
export { Grid } from "./grid.ts";
export {
  abortSignal,
  above,
  anyObject,
  anything,
  between,
  count,
  finite,
  finiteFrom,
  flag,
  func,
  type Kind,
  type Kinds,
  kind,
  loopClock,
  methods,
  notNegative,
  parsed,
  positive,
  read,
  required,
  string,
  text,
  whole,
} from "./kinds.ts";
export { messageOf } from "./message-of.ts";
export { type RepeatedDetails, RepeatedLines } from "./repeated-lines.ts";
export { instantAfter, roundToNanosecond } from "./rounding.ts";
export { hideIn, Secrets, type Sent } from "./secrets.ts";
export { type HeapEntry, TimerHeap } from "./timer-heap.ts";
