import { seededRandom } from "@holdfast/wait";
import { CRASH_POINTS, type CrashPoint } from "../worker/crash-point.ts";

/** How many orders a round has. */
const ORDERS = 20;

/** The longest time until a worker is killed that does not know where, in milliseconds. */
const LATEST = 400;

/** Where the worker of a round dies. */
export type Death =
  | { readonly at: CrashPoint; readonly count: number }
  /** So long after it was given its orders, in milliseconds, wherever it is. */
  | { readonly at: "anywhere"; readonly after: number };

/** One round: a worker that is given some orders, and dies. */
export interface Round {
  readonly seed: number;
  readonly orders: readonly number[];
  readonly death: Death;
}

/** @param index - counts the rounds of a run from 0 */
export function planOf(index: number, seed: number): Round {
  const random = seededRandom(seed);
  const draw = (limit: number): number => Math.floor(random() * limit);
  const at = [...CRASH_POINTS, "anywhere" as const][draw(CRASH_POINTS.length + 1)] ?? "anywhere";
  const death: Death =
    at === "anywhere" ? { at, after: draw(LATEST) } : { at, count: 1 + draw(ORDERS / 2) };
  const orders = Array.from({ length: ORDERS }, (_, order) => index * ORDERS + order + 1);
  return { seed, orders, death };
}

/** In words. */
export function nameOf(death: Death): string {
  return death.at === "anywhere" ? `after ${death.after} ms` : `${death.at}:${death.count}`;
}
