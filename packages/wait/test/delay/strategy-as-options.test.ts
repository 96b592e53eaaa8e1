import { FakeClock } from "@holdfast/clock/testing";
import { Backoff, ExponentialBackoffManager, JitteredBackoffManager } from "@holdfast/wait";
import { grpcBackoff } from "@holdfast/wait/strategies";
import { expect, it } from "vitest";
import { STRATEGIES } from "../strategies.ts";

// A Backoff has a public `duration`. Taken for options, it would set the first delay and lose the rest.
const backoff = new Backoff({ duration: 100, factor: 2, cap: 800, jitter: 0.5, steps: 3 });
const constant = { duration: 100, clock: new FakeClock() };

type Make = (options: never) => unknown;

it.each<readonly [name: string, make: Make, options: object]>([
  ...STRATEGIES.map(({ Strategy, options }) => {
    const make: Make = (given) => new Strategy(given);
    return [Strategy.name, make, options] as const;
  }),
  [
    "ExponentialBackoffManager",
    (given) => new ExponentialBackoffManager(given),
    { ...constant, factor: 2 },
  ],
  ["JitteredBackoffManager", (given) => new JitteredBackoffManager(given), constant],
  ["grpcBackoff", (given) => grpcBackoff(1, given), { duration: 100 }],
])("%s rejects a Backoff in place of its options", (_, make, options) => {
  const error = new TypeError("options must be plain options, got a strategy");
  expect(() => make(backoff as never)).toThrow(error);
  class Own extends Backoff {}
  expect(() => make(new Own({ duration: 1 }) as never)).toThrow(error);
  expect(() => make(options as never)).not.toThrow();
});
