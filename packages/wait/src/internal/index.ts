/**
 * Code shared by the Holdfast packages. Not public: it is not in the reference and may change with any
 * minor version.
 *
 * @hidden
 * @packageDocumentation
 */
export { exponential } from "../delay/exponential.ts";
export { uuidFrom } from "../delay/random.ts";
export { strategyOf } from "../delay/strategy-of.ts";
export { Deadline, type DeadlineOptions } from "../limit/deadline.ts";
export { endsWithin } from "../limit/ends-within.ts";
export {
  type Done,
  type Loop,
  type LoopDelay,
  type LoopManager,
  type LoopWork,
  loop,
} from "../loop/loop.ts";
export { isConflict } from "../retry/is-conflict.ts";
export { MAX_RETRY_AFTER, retryAfterOf } from "../retry/retry-after-error.ts";
