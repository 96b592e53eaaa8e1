/**
 * Clocks as rxjs schedulers, and schedulers as clocks.
 *
 * @packageDocumentation
 */

export { asScheduler } from "./as-scheduler.ts";
export { fromScheduler } from "./from-scheduler.ts";
