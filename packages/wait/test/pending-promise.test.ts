import type { Clock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { poll, retry, TerminalError, withTimeout } from "@holdfast/wait";
import { connectWithBackoff } from "@holdfast/wait/connect";
import { describe, expect, it, vi } from "vitest";
import { errorOf } from "../../../test/error-of.ts";

/** Waits for a promise that stays pending, and gives up. */
type Wait = (pending: Promise<string>, clock: Clock) => Promise<unknown>;

const backoff = { duration: 1 };

const DOORS: Record<string, Wait> = {
  withTimeout: (pending, clock) => withTimeout(() => pending, 10, { clock }),
  "withTimeout, aborted": (pending, clock) => {
    const stop = new AbortController();
    clock.afterFunc(10, () => stop.abort("bye"));
    return withTimeout(() => pending, 1_000, { signal: stop.signal, clock });
  },
  "retry, attemptTimeout": (pending, clock) =>
    retry(() => pending, { backoff, retries: 2, attemptTimeout: 10, clock }),
  "retry, timeout": (pending, clock) => retry(() => pending, { timeout: 10, clock }),
  "poll, attemptTimeout": (pending, clock) =>
    poll(() => pending, { backoff, attemptTimeout: 10, timeout: 35, clock }),
  "poll, timeout": (pending, clock) => poll(() => pending, { timeout: 10, clock }),
  connectWithBackoff: (pending, clock) => {
    const stop = new AbortController();
    clock.afterFunc(50, () => stop.abort(new TerminalError("bye")));
    return connectWithBackoff(() => pending, {
      signal: stop.signal,
      minConnectTimeout: 10,
      backoff,
      clock,
    });
  },
};

/** A pending promise that counts its reactions. */
function countedPromise() {
  let resolve!: (value: string) => void;
  const promise = new Promise<string>((settle) => (resolve = settle));
  const then = vi.spyOn(promise, "then");
  return { promise, resolve, reactions: () => then.mock.calls.length };
}

describe("waiting again and again for one pending promise", () => {
  it.each(Object.entries(DOORS))(
    "%s keeps two reactions, not one for each wait",
    async (_, wait) => {
      const clock = new FakeClock();
      const { promise, resolve, reactions } = countedPromise();
      for (let round = 0; round < 100; round++)
        await clock.run(() => errorOf(wait(promise, clock)));
      expect(reactions()).toBe(2);
      const last = wait(promise, clock);
      resolve("there");
      expect(await clock.run(() => last)).toBe("there");
    },
  );

  it("rejects all waits with the error of the promise", async () => {
    const clock = new FakeClock();
    let reject!: (reason: unknown) => void;
    const pending = new Promise<string>((_, fail) => (reject = fail));
    await clock.run(() => errorOf(withTimeout(() => pending, 10, { clock })));
    const waits = [1, 2].map(() => errorOf(withTimeout(() => pending, 10, { clock })));
    reject("broken");
    expect(await Promise.all(waits)).toEqual(["broken", "broken"]);
    expect(await errorOf(withTimeout(() => pending, 10, { clock }))).toBe("broken");
  });
});
