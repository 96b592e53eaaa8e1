export { asScheduler } from "./as-scheduler.ts";
export { fromScheduler } from "./from-scheduler.ts";
