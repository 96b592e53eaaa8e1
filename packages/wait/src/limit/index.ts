/**
 * Limits that calls share: deadlines, budgets of retries, and the delay that a server asks for.
 *
 * @packageDocumentation
 */

export { parseRetryAfter } from "../retry/parse-retry-after.ts";
export {
  RetryBudget,
  type RetryBudgetOptions,
  type RetryBudgetStatus,
  type RetryReservation,
} from "../retry/retry-budget.ts";
export { Deadline, type DeadlineOptions, timeLeft } from "./deadline.ts";
export { type EndsWithinOptions, endsWithin } from "./ends-within.ts";
