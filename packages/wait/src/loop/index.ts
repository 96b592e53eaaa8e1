/**
 * The loop under `poll`, `every` and `backoffUntil`, for loops of your own.
 *
 * @packageDocumentation
 */

export { backoffManager } from "./backoff-manager.ts";
export {
  type Done,
  type Loop,
  type LoopDelay,
  type LoopManager,
  type LoopWork,
  loop,
} from "./loop.ts";
