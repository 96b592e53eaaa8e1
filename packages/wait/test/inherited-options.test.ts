import { Backoff, type BackoffStrategy } from "@holdfast/wait";
import {
  AttemptBackoff,
  BinaryExponentialBackoff,
  ConstantBackoff,
  DecorrelatedJitterBackoff,
  EqualJitterBackoff,
  FibonacciBackoff,
  FullJitterBackoff,
  GrpcBackoff,
  LinearBackoff,
  SymmetricJitterBackoff,
} from "@holdfast/wait/strategies";
import { expect, it } from "vitest";
import { firstDelays } from "./first-delays.ts";

const random = () => 0.75;
const options = { duration: 100, factor: 3, jitter: 0.5, cap: 700, random };

/** Options can come from a class, or from a shared prototype. */
it.each<readonly [new (options: never) => BackoffStrategy, object]>([
  [AttemptBackoff, { duration: 100, cap: 700, factor: 3, spread: true, random }],
  [Backoff, options],
  [BinaryExponentialBackoff, { slotTime: 100, backoffLimit: 2, attemptLimit: 9, random }],
  [ConstantBackoff, { duration: 100, jitter: 0.5, random }],
  [DecorrelatedJitterBackoff, options],
  [EqualJitterBackoff, options],
  [FibonacciBackoff, { duration: 100, jitter: 0.5, cap: 700, capAfterJitter: true, random }],
  [FullJitterBackoff, options],
  [GrpcBackoff, options],
  [LinearBackoff, { duration: 100, increment: 30, jitter: 0.5, cap: 700, random }],
  [SymmetricJitterBackoff, options],
])("%o accepts inherited options", (Strategy, own) => {
  const inherited = new Strategy(Object.create(own) as never);
  expect(firstDelays(6, inherited)).toEqual(firstDelays(6, new Strategy(own as never)));
});
