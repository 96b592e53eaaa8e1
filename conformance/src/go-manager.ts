import type { Clock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import {
  type BackoffManager,
  ExponentialBackoffManager,
  JitteredBackoffManager,
  type Random,
} from "@holdfast/wait";
import { type GoBackoff, optionsOf, rejectedOf } from "./go-backoff.ts";
import { type GoFloat, type GoInt, toMilliseconds } from "./nanoseconds.ts";
import { outOfRange, rejections } from "./rejections.ts";

/** The arguments of `NewExponentialBackoffManager` and `NewJitteredBackoffManager`. */
export type GoManager =
  | {
      readonly kind: "exponential";
      readonly init: GoInt;
      readonly max: GoInt;
      readonly reset: GoInt;
      readonly factor: GoFloat;
      readonly jitter: GoFloat;
    }
  | { readonly kind: "jittered"; readonly period: GoInt; readonly jitter: GoFloat };

function backoffOf(go: GoManager): GoBackoff {
  switch (go.kind) {
    case "exponential":
      return { duration: go.init, factor: go.factor, jitter: go.jitter, cap: go.max };
    case "jittered":
      return { duration: go.period, jitter: go.jitter };
    default:
      throw new Error(`unknown kind ${(go as GoManager).kind}`);
  }
}

function rejectedValues(go: GoManager): Record<string, number> {
  const rejected = rejectedOf(backoffOf(go));
  if (go.kind === "jittered") return rejected;
  const noFactor = Number(go.factor) === 0 ? { factor: 0 } : {};
  return { ...rejected, ...noFactor, ...outOfRange({ resetAfter: toMilliseconds(go.reset) }) };
}

/** The names of the options that Holdfast should reject. A factor of 0 is one: it is not optional. */
export function rejectedNames(go: GoManager): string[] {
  return Object.keys(rejectedValues(go));
}

/** The names of the options that Holdfast does reject. */
export function managerRejections(go: GoManager): string[] {
  const clock = new FakeClock();
  return rejections(rejectedValues(go), (option) =>
    go.kind === "exponential"
      ? new ExponentialBackoffManager({ duration: 1, factor: 2, clock, ...option })
      : new JitteredBackoffManager({ duration: 1, clock, ...option }),
  );
}

/** Whether anything here does what Go does. With a reset interval below 0 it starts over each time. */
export function hasCounterpart(go: GoManager): boolean {
  if (optionsOf(backoffOf(go)) === undefined) return false;
  return go.kind === "jittered" || Number(go.reset) >= 0;
}

/** The manager that does what Go's does. */
export function createManager(go: GoManager, clock: Clock, random: Random): BackoffManager {
  const options = optionsOf(backoffOf(go));
  if (options === undefined) throw new Error("a manager without a counterpart");
  if (go.kind === "jittered") return new JitteredBackoffManager({ ...options, clock, random });
  const resetAfter = toMilliseconds(go.reset);
  const { factor = 1 } = options;
  return new ExponentialBackoffManager({ ...options, factor, resetAfter, clock, random });
}
