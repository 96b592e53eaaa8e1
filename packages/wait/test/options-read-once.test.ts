import { FakeClock } from "@holdfast/clock/testing";
import {
  ExponentialBackoffManager,
  every,
  JitteredBackoffManager,
  poll,
  retry,
  TerminalError,
  withTimeout,
} from "@holdfast/wait";
import { connectWithBackoff, keepConnected } from "@holdfast/wait/connect";
import { delayUntil, exponentialBackoff, KeyedBackoff, pollUntil } from "@holdfast/wait/go";
import { RetryBudget } from "@holdfast/wait/limit";
import { pollBackoff, repeatBackoff, retryBackoff } from "@holdfast/wait/rxjs";
import { grpcBackoff } from "@holdfast/wait/strategies";
import { expect, it } from "vitest";
import { firstDelays } from "./first-delays.ts";
import { STRATEGIES } from "./strategies.ts";

const clock = new FakeClock();
const random = () => 0.5;
const { signal } = new AbortController();
const nothing = () => {};
const growing = {
  duration: 1,
  factor: 2,
  steps: 5,
  cap: 50,
  jitter: 0.1,
  capAfterJitter: true,
  random,
};
const conditions = { signal, onError: nothing, clock };
const waits = { immediate: true, sliding: true, timeout: 100 };
const connecting = {
  backoff: growing,
  minConnectTimeout: 5,
  maxRetryAfter: 5,
  signal,
  clock,
  onRetry: nothing,
  onLate: nothing,
};
const repeating = { backoff: growing, maxElapsed: 100, resetOnSuccess: true, signal, clock };
const retrying = { shouldRetry: () => true, delay: () => 1, onRetry: nothing };

/** Fails twice, then succeeds. */
function thirdTime(): () => true {
  let calls = 0;
  return () => {
    if (++calls < 3) throw new Error("not yet");
    return true;
  };
}

function endForGood(): never {
  throw new TerminalError("closed");
}

/** Plain options that record each read; those of their `backoff` as well. */
function recording(reads: string[], options: object, path = ""): object {
  return new Proxy(options, {
    get(target, key) {
      const name = `${path}${String(key)}`;
      reads.push(name);
      const value = Reflect.get(target, key) as unknown;
      return key === "backoff" ? recording(reads, value as object, `${name}.`) : value;
    },
  });
}

function namesOf(options: object, path = ""): string[] {
  return Object.entries(options).flatMap(([name, value]) => [
    `${path}${name}`,
    ...(name === "backoff" ? namesOf(value as object, "backoff.") : []),
  ]);
}

type Use = (options: never) => unknown;

it.each<readonly [name: string, use: Use, options: object]>([
  ...STRATEGIES.map(({ Strategy, options }) => {
    const use: Use = (read) => firstDelays(3, new Strategy(read));
    return [Strategy.name, use, options] as const;
  }),
  [
    "grpcBackoff",
    (read) => grpcBackoff(1, read),
    { duration: 1, factor: 2, cap: 50, jitter: 0.1, capAfterJitter: true, random },
  ],
  [
    "ExponentialBackoffManager",
    (read) => new ExponentialBackoffManager(read).backoff().stop(),
    { duration: 1, factor: 2, cap: 50, jitter: 0.1, resetAfter: 9, random, clock },
  ],
  [
    "JitteredBackoffManager",
    (read) => new JitteredBackoffManager(read).backoff().stop(),
    { duration: 1, jitter: 0.1, random, clock },
  ],
  [
    "KeyedBackoff",
    (read) => new KeyedBackoff(read).next("a"),
    { duration: 1, cap: 50, jitter: 0.1, resetAfter: 9, random, clock },
  ],
  [
    "retry",
    (read) => retry(thirdTime(), read),
    {
      ...retrying,
      backoff: growing,
      retries: 5,
      maxElapsed: 100,
      timeout: 100,
      attemptTimeout: 5,
      maxRetryAfter: 5,
      budget: new RetryBudget({ clock }),
      signal,
      clock,
    },
  ],
  [
    "poll",
    (read) => poll(thirdTime(), read),
    {
      ...conditions,
      timeout: 100,
      attemptTimeout: 5,
      maxRetryAfter: 5,
      backoff: growing,
      interval: undefined,
    },
  ],
  [
    "every",
    (read) => every(5, read).next(),
    { signal, clock, immediate: true, sliding: true, jitter: 0.1, random },
  ],
  [
    "withTimeout",
    (read) => withTimeout(() => 1, 5, read),
    { signal, clock, label: "work", cause: () => 1, message: "late", onLate: nothing },
  ],
  ["connectWithBackoff", (read) => connectWithBackoff(thirdTime(), read), connecting],
  [
    "keepConnected",
    (read) => keepConnected(thirdTime(), endForGood, read).catch(nothing),
    { ...connecting, resetAfter: 5, random, onError: nothing },
  ],
  ["pollUntil", (read) => pollUntil(thirdTime(), 5, read), { ...conditions, ...waits }],
  ["delayUntil", (read) => delayUntil(() => 5, thirdTime(), read), { ...conditions, ...waits }],
  [
    "exponentialBackoff",
    (read) => exponentialBackoff(thirdTime(), read),
    { ...conditions, backoff: growing },
  ],
  [
    "retryBackoff",
    (read) => retryBackoff(read),
    { ...repeating, ...retrying, retries: 5, resetAfter: 9, maxRetryAfter: 5 },
  ],
  ["repeatBackoff", (read) => repeatBackoff(read), { ...repeating, repeats: 5 }],
  [
    "pollBackoff",
    (read) => pollBackoff(() => true, read),
    { backoff: growing, timeout: 100, maxRetryAfter: 5, signal, clock },
  ],
])("%s reads each option once, at the call", async (_name, use, options) => {
  const reads: string[] = [];
  const end = use(recording(reads, options) as never);
  const atCall = [...reads];
  await clock.run(async () => end);
  expect(reads).toEqual(atCall);
  expect(reads.toSorted()).toEqual(namesOf(options).toSorted());
});
