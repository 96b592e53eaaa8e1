import { FakeClock } from "@holdfast/clock/testing";
import { findError, isTimeoutError, type RetryOptions, retry, TimeoutError } from "@holdfast/wait";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { errorOf } from "../../../../test/error-of.ts";

let clock: FakeClock;
let start: number;
let stop: AbortController;

beforeEach(() => {
  clock = new FakeClock();
  start = clock.monotonic();
  stop = new AbortController();
});

afterEach(() => {
  expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
});

const backoff = { duration: 100 };

async function failure(fn: Parameters<typeof retry>[0], options: RetryOptions) {
  const all = { backoff, signal: stop.signal, clock, ...options };
  const error = await clock.run(() => errorOf(retry(fn, all)));
  return { error, at: clock.monotonic() - start };
}

describe("the timeout of retry", () => {
  it("ends a delay, with the error of the last attempt as its cause", async () => {
    let calls = 0;
    const refused = (): never => {
      throw new Error(`refused ${++calls}`);
    };
    const { error, at } = await failure(refused, { timeout: 2_050 });
    expect([at, isTimeoutError(error), findError(error, TimeoutError)?.timeout]).toEqual([
      2_050,
      true,
      2_050,
    ]);
    // More than the ten retries that are the default without a limit of time.
    expect((error as Error).cause).toEqual(new Error("refused 21"));
  });

  it("ends an attempt, whose signal aborts with the same error", async () => {
    let reason: unknown;
    const hangs = ({ signal }: { signal: AbortSignal }): Promise<void> => {
      signal.addEventListener("abort", () => (reason = signal.reason), { once: true });
      return new Promise(() => {});
    };
    const { error, at } = await failure(hangs, { timeout: 500 });
    expect([at, error === reason, (error as Error).cause]).toEqual([500, true, undefined]);
  });

  it("has the error of an attempt that timed out as its cause", async () => {
    const hangs = (): Promise<void> => new Promise(() => {});
    const { error, at } = await failure(hangs, { timeout: 500, attemptTimeout: 200 });
    expect(at).toBe(500);
    expect(findError((error as Error).cause, TimeoutError)?.timeout).toBe(200);
  });

  it("ends a hook", async () => {
    const fails = (): never => {
      throw new Error("refused");
    };
    const onRetry = (): Promise<void> => new Promise(() => {});
    const { error, at } = await failure(fails, { timeout: 500, onRetry });
    expect([at, (error as Error).cause]).toEqual([500, new Error("refused")]);
  });

  it("loses against an abort that comes first", async () => {
    clock.afterFunc(300, () => stop.abort("bye"));
    const { error, at } = await failure(() => Promise.reject(new Error("no")), { timeout: 500 });
    expect([at, error]).toEqual([300, "bye"]);
  });

  it("leaves nothing behind when an attempt succeeds", async () => {
    let calls = 0;
    const third = (): number => {
      if (++calls < 3) throw new Error("not yet");
      return calls;
    };
    const value = clock.run(() =>
      retry(third, { backoff, timeout: 500, attemptTimeout: 100, signal: stop.signal, clock }),
    );
    expect(await value).toBe(3);
  });
});
