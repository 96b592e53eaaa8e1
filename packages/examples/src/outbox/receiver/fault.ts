import { seededRandom } from "@holdfast/wait";

/**
 * Behaviour of a receiver in one attempt of a message.
 *
 * | Fault | The sender sees | The work is done |
 * | --- | --- | --- |
 * | `none` | 200 | yes |
 * | `error` | 500 | no |
 * | `busy` | 429 with `Retry-After` | no |
 * | `away` | 503 with `Retry-After` | no |
 * | `hang` | nothing | no |
 * | `reset` | an aborted connection | no |
 * | `lost reply` | an aborted connection | yes |
 * | `reject` | 422 | no, and never will be |
 */
export type Fault = "none" | "error" | "busy" | "away" | "hang" | "reset" | "lost reply" | "reject";

/** How often each fault comes, in percent; the others have none. */
const PERCENT: readonly (readonly [Fault, number])[] = [
  ["error", 12],
  ["busy", 4],
  ["away", 4],
  ["hang", 2],
  ["reset", 8],
  ["lost reply", 10],
];

/** Messages of these kinds never succeed. */
const REFUSED_EVERY = 100;
const FAILING_EVERY = 67;

/**
 * The fault of attempt number `attempt`, from 1, of order `order`. The same for the same seed.
 *
 * @param seed - undefined for a receiver that has been repaired
 */
export function faultOf(order: number, attempt: number, seed: number | undefined): Fault {
  if (seed === undefined) return "none";
  if (order % REFUSED_EVERY === 0) return "reject";
  if (order % FAILING_EVERY === 0) return "error";
  let drawn = 100 * seededRandom(seed + order * 1_009 + attempt * 9_176_867)();
  for (const [fault, percent] of PERCENT) {
    if (drawn < percent) return fault;
    drawn -= percent;
  }
  return "none";
}
