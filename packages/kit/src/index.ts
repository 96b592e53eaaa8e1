/** Code that the packages share, for every runtime. It imports no package: the clock stands on it. */
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
  requirePeriod,
  requirePositive,
  requireSignal,
  requireString,
  requireText,
  requireTimerOptions,
  requireWhole,
  requireWord,
  show,
} from "./arguments.ts";
export { type CallbackContext, callInOwnContext, currentContext } from "./async-context.ts";
export { callSafely, isThenable } from "./call-safely.ts";
export { type Deferred, deferred } from "./deferred.ts";
export { CAMPAIGN_JITTER, requireDurations } from "./election-durations.ts";
export { findByCode, isStop, TIMEOUT_CODE } from "./error-chain.ts";
export {
  holdOpen,
  type LoopClock,
  machineLoop,
  measuresTimers,
  simulatedTime,
  type TurnClock,
  yieldTurn,
} from "./event-loop.ts";
export { exponential, power } from "./exponential.ts";
export { findModule, findProcess } from "./find-module.ts";
export { Grid } from "./grid.ts";
export { Hooks } from "./hooks.ts";
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
export { isLinkable, type LinkedCall, Linker } from "./link.ts";
export { messageOf } from "./message-of.ts";
export {
  type Counted,
  type HistogramMetric,
  type Labels,
  type Measured,
  type Metric,
  type MetricSink,
  type ReadMetric,
  type Sample,
  SetGauge,
} from "./metrics.ts";
export { recaptureStack } from "./recapture-stack.ts";
export { type RepeatedDetails, RepeatedLines, withoutNumbers } from "./repeated-lines.ts";
export { MAX_RETRY_AFTER, RETRY_AFTER_CODE, retryAfterIn, retryAfterOf } from "./retry-after.ts";
export { instantAfter, roundToNanosecond } from "./rounding.ts";
export { hideIn, Secrets, type Sent } from "./secrets.ts";
export {
  AUTOCOMMIT,
  DUPLICATE_ENTRY,
  endRequest,
  mysqlNumberOf,
  NEXT_READS_COMMITTED,
  READING,
  TRANSACTION_IS_OPEN,
} from "./sql/mysql-connection.ts";
export { onTable } from "./sql/on-table.ts";
export { cancelRequest, isOfServer, leftTransaction } from "./sql/pg-connection.ts";
export { type HeapEntry, TimerHeap } from "./timer-heap.ts";
export { uuidFrom } from "./uuid-from.ts";
