import { FakeClock } from "@holdfast/clock/testing";
import { Backoff, ExponentialBackoffManager, JitteredBackoffManager } from "@holdfast/wait";
import { grpcBackoff } from "@holdfast/wait/strategies";
import { expect, it } from "vitest";
import { STRATEGIES } from "../strategies.ts";

// A Backoff has a public `duration`. Taken for options, it would set the first delay and lose the rest.
const backoff = new Backoff({ duration: 100, factor: 2, cap: 800, jitter: 0.5, steps: 3 });
const options = { duration: 100, factor: 2, slotTime: 1, clock: new FakeClock() };

const doors: Record<string, (options: never) => unknown> = {
  ...Object.fromEntries(
    STRATEGIES.map(({ Strategy }) => [Strategy.name, (given: never) => new Strategy(given)]),
  ),
  ExponentialBackoffManager: (given) => new ExponentialBackoffManager(given),
  JitteredBackoffManager: (given) => new JitteredBackoffManager(given),
  grpcBackoff: (given) => grpcBackoff(1, given),
};

it.each(Object.entries(doors))("%s rejects a Backoff in place of its options", (_, make) => {
  const error = new TypeError("options must be plain options, got a strategy");
  expect(() => make(backoff as never)).toThrow(error);
  class Own extends Backoff {}
  expect(() => make(new Own({ duration: 1 }) as never)).toThrow(error);
  expect(() => make(options as never)).not.toThrow();
});
