import { FakeClock } from "@holdfast/clock/testing";
import {
  connectWithBackoff,
  ExponentialBackoffManager,
  every,
  JitteredBackoffManager,
  keepConnected,
  poll,
  retry,
  TerminalError,
  withTimeout,
} from "@holdfast/wait";
import { delayUntil, exponentialBackoff, KeyedBackoff, pollUntil } from "@holdfast/wait/go";
import { pollBackoff, repeatBackoff, retryBackoff } from "@holdfast/wait/rxjs";
import { expect, it } from "vitest";
import { firstDelays } from "./first-delays.ts";
import { STRATEGIES } from "./strategies.ts";

const clock = new FakeClock();
const random = () => 0.5;
const { signal } = new AbortController();
const nothing = () => {};
const limits = { cap: 50, jitter: 0.1, capAfterJitter: true, random };
const growing = { duration: 1, factor: 2, steps: 5, ...limits };
const conditions = { signal, onError: nothing, clock };
const loops = { ...conditions, immediate: true, sliding: true, timeout: 100, backoff: growing };

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

type Use = (options: never) => unknown;

it.each<readonly [name: string, use: Use, options: object]>([
  ...STRATEGIES.map(({ Strategy, options }) => {
    const use: Use = (read) => firstDelays(3, new Strategy(read));
    return [Strategy.name, use, options] as const;
  }),
  [
    "ExponentialBackoffManager",
    (read) => new ExponentialBackoffManager(read),
    { ...growing, clock },
  ],
  ["JitteredBackoffManager", (read) => new JitteredBackoffManager(read), { ...growing, clock }],
  ["KeyedBackoff", (read) => new KeyedBackoff(read).next("a"), { ...growing, clock }],
  ["retry", (read) => retry(thirdTime(), read), { ...loops, retries: 5, onRetry: nothing }],
  ["poll", (read) => poll(thirdTime(), read), loops],
  ["every", (read) => every(5, read).next(), { ...loops, jitter: 0.1, random }],
  ["withTimeout", (read) => withTimeout(() => 1, 5, read), loops],
  ["connectWithBackoff", (read) => connectWithBackoff(thirdTime(), read), loops],
  ["keepConnected", (read) => keepConnected(thirdTime(), endForGood, read).catch(nothing), loops],
  ["pollUntil", (read) => pollUntil(thirdTime(), 5, read), loops],
  ["delayUntil", (read) => delayUntil(() => 5, thirdTime(), read), loops],
  ["exponentialBackoff", (read) => exponentialBackoff(thirdTime(), read), loops],
  ["retryBackoff", (read) => retryBackoff(read), { ...loops, retries: 5, onRetry: nothing }],
  ["repeatBackoff", (read) => repeatBackoff(read), { ...loops, repeats: 5 }],
  ["pollBackoff", (read) => pollBackoff(() => true, read), loops],
])("%s reads each option once, at the call", async (_name, use, options) => {
  const reads: PropertyKey[] = [];
  // An instance may have other members, so that one object serves several doors.
  class Options {}
  const counted = new Proxy(Object.assign(new Options(), options), {
    get(target, key) {
      reads.push(key);
      return Reflect.get(target, key) as unknown;
    },
  });
  const end = use(counted as never);
  const atCall = [...reads];
  await clock.run(async () => end);
  expect(reads).toEqual([...new Set(atCall)]);
});
