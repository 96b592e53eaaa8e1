import { FakeClock } from "@holdfast/clock/testing";
import { poll, retry } from "@holdfast/wait";
import { connectWithBackoff } from "@holdfast/wait/connect";
import { pollUntil } from "@holdfast/wait/go";
import { expect, it } from "vitest";

type Wait = (options: { clock: FakeClock; signal: AbortSignal }) => Promise<unknown>;

const hang = () => new Promise<never>(() => {});

/** The pending timers that a fake clock reports when a test is stuck. */
it.each(
  Object.entries<[wait: Wait, pending: [label: string, deadline: number][]]>({
    "connectWithBackoff: an attempt and its delay": [
      (options) => connectWithBackoff(hang, { ...options, backoff: { duration: 100 } }),
      [
        ["backoff", 100],
        ["attempt to connect", 20_000],
      ],
    ],
    "poll: an attempt": [(options) => poll(hang, { ...options, timeout: 500 }), [["timeout", 500]]],
    "pollUntil: a delay": [
      (options) => pollUntil(() => false, 200, { ...options, timeout: 500 }),
      [
        ["backoff", 200],
        ["timeout", 500],
      ],
    ],
    "retry: an attempt": [
      (options) => retry(hang, { ...options, attemptTimeout: 300 }),
      [["timeout", 300]],
    ],
  }),
)("%s", async (_, [wait, pending]) => {
  const clock = new FakeClock();
  const start = clock.monotonic();
  const stop = new AbortController();
  const end = wait({ clock, signal: stop.signal }).catch((reason: unknown) => reason);
  await clock.step(0);
  const seen = clock.pending().map(({ label, deadline }) => [label, deadline - start]);
  expect(seen).toEqual(pending);
  stop.abort("enough");
  expect(await end).toBe("enough");
  expect(clock.waiters()).toBe(0);
});
