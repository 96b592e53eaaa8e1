import { FakeClock } from "@holdfast/clock/testing";
import { poll, RetryAfterError, retry, TerminalError } from "@holdfast/wait";
import { RetryBudget } from "@holdfast/wait/limit";
import { beforeEach, describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { errorOf } from "../../../../test/error-of.ts";

let clock: FakeClock;
let requests: number;

beforeEach(() => {
  clock = new FakeClock();
  requests = 0;
});

const error = new Error("503");
const down = async (): Promise<never> => {
  requests++;
  throw error;
};
const fixed = { duration: 100 };

describe("a retry budget", () => {
  it("limits the retries of all calls to a share of the calls", async () => {
    const budget = new RetryBudget({ share: 0.2, minPerSecond: 0 });
    const calls = Array.from({ length: 50 }, () => retry(down, { budget, clock, backoff: fixed }));
    const ended = await clock.run(() => Promise.allSettled(calls));
    expect(requests).toBe(50 + 10);
    expect(ended.every((end) => end.status === "rejected" && end.reason === error)).toBe(true);
    expect(budget.status()).toEqual({ calls: 50, retries: 10, limit: 10, refused: 50 });
  });

  it("allows retries per second to a program that makes few calls", async () => {
    const budget = new RetryBudget({ share: 0.1, minPerSecond: 0.5, window: 10_000 });
    const failed = errorOf(retry(down, { budget, clock, backoff: fixed, retries: 100 }));
    await clock.run(() => failed);
    expect(requests).toBe(1 + 5);
    expect(budget.status()).toEqual({ calls: 1, retries: 5, limit: 5, refused: 1 });
  });

  it("forgets calls and retries after the window, a tenth at a time", async () => {
    const budget = new RetryBudget({ share: 0, minPerSecond: 0.2, window: 10_000, clock });
    budget.call();
    expect([budget.reserve(), budget.reserve(), budget.reserve()].map(Boolean)).toEqual([
      true,
      true,
      false,
    ]);
    await clock.step(1_000);
    budget.call();
    await clock.step(8_999);
    expect(budget.status()).toEqual({ calls: 2, retries: 2, limit: 2, refused: 1 });
    await clock.step(1);
    expect(budget.status()).toEqual({ calls: 1, retries: 0, limit: 2, refused: 1 });
    await clock.step(1_000);
    expect(budget.status()).toEqual({ calls: 0, retries: 0, limit: 2, refused: 1 });
  });

  it("rejects at once, and calls no hook, when it is spent", async () => {
    const budget = new RetryBudget({ share: 0, minPerSecond: 0 });
    const hooks: string[] = [];
    const start = clock.monotonic();
    const rejected = errorOf(
      retry(down, {
        ...{ budget, clock, backoff: fixed },
        shouldRetry: () => hooks.push("shouldRetry") > 0,
        delay: (_, next) => hooks.push("delay") * 0 + next,
        onRetry: () => hooks.push("onRetry"),
      }),
    );
    expect(await clock.run(() => rejected)).toBe(error);
    expect([hooks, requests, clock.monotonic() - start, clock.waiters()]).toEqual([[], 1, 0, 0]);
  });

  it.each<[string, (stop: AbortController) => object]>([
    ["its signal aborts during the delay", (stop) => ({ signal: stop.signal, retries: 3 })],
    ["its time limit ends during the delay", () => ({ timeout: 50 })],
    ["a hook gives up", () => ({ shouldRetry: () => false })],
    [
      "a hook throws",
      () => ({
        onRetry: () => {
          throw new Error("odd");
        },
      }),
    ],
    ["a hook chooses a delay beyond its limit", () => ({ maxElapsed: 500, delay: () => 600 })],
  ])("gets a retry back that is not made, because %s", async (_, options) => {
    const budget = new RetryBudget({ share: 1, minPerSecond: 0 });
    const stop = new AbortController();
    const rejected = errorOf(retry(down, { budget, clock, backoff: fixed, ...options(stop) }));
    await clock.step(50);
    stop.abort();
    await clock.run(() => rejected);
    expect(requests).toBe(1);
    expect(budget.status()).toMatchObject({ calls: 1, retries: 0 });
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  });

  it.each<[string, () => unknown, number]>([
    ["succeeds", () => 1, 0],
    ["fails for good", () => Promise.reject(new TerminalError("404")), 0],
    ["is told to wait", () => (requests > 1 ? 1 : Promise.reject(new RetryAfterError(10))), 1],
  ])("spends no more than it makes on a call that %s", async (_, answer, retries) => {
    const budget = new RetryBudget({ share: 1, minPerSecond: 0 });
    const call = (): unknown => {
      requests++;
      return answer();
    };
    const ended = Promise.allSettled([retry(call, { budget, clock, backoff: fixed })]);
    await clock.run(() => ended);
    expect([requests, budget.status().retries]).toEqual([1 + retries, retries]);
  });

  it("gets a retry back that is not made, because an attempt beyond its time has failed for good", async () => {
    const budget = new RetryBudget({ share: 1, minPerSecond: 0 });
    const late = async (): Promise<never> => {
      requests++;
      await clock.sleep(60);
      throw new TerminalError("404");
    };
    const rejected = errorOf(retry(late, { budget, clock, backoff: fixed, attemptTimeout: 50 }));
    expect(String(await clock.run(() => rejected))).toBe("TerminalError: 404");
    expect([requests, budget.status().retries]).toEqual([1, 0]);
  });

  it("counts no call that its signal has ended before", async () => {
    const budget = new RetryBudget();
    await errorOf(retry(down, { budget, clock, signal: AbortSignal.abort() }));
    expect([requests, budget.status().calls]).toEqual([0, 0]);
  });

  it("takes a retry that is given back twice for one", () => {
    const budget = new RetryBudget({ minPerSecond: 1, window: 2_000, clock });
    const first = budget.reserve();
    budget.reserve();
    first?.giveBack();
    first?.giveBack();
    expect(budget.status().retries).toBe(1);
  });

  it("refuses a call on another clock", async () => {
    const budget = new RetryBudget();
    await retry(() => 1, { budget, clock });
    const other = errorOf(retry(down, { budget, clock: new FakeClock() }));
    expect(String(await other)).toMatch(/^TypeError: options\.budget must be on the clock/);
    const own = errorOf(retry(down, { budget: new RetryBudget({ clock }) }));
    expect(String(await own)).toMatch(/^TypeError: options\.budget must be on the clock/);
    expect(requests).toBe(0);
  });

  it("keeps a failing service from its callers' retries, and lets them retry a rare failure", async () => {
    const budget = new RetryBudget();
    let isDown = false;
    let failures = 0;
    const request = async (): Promise<void> => {
      requests++;
      if (isDown || requests % 50 === 0) throw error;
    };
    const call = async (): Promise<void> => {
      await retry(request, { budget, clock, backoff: fixed, retries: 5 }).catch(() => failures++);
    };
    const phase = async (seconds: number): Promise<number> => {
      const before = requests;
      for (let step = 0; step < seconds * 100; step++) {
        void call();
        await clock.step(10);
      }
      await clock.step(10_000);
      return requests - before;
    };
    await phase(20);
    expect(failures).toBe(0);
    isDown = true;
    const calls = 2_000;
    expect(await phase(20)).toBeLessThanOrEqual(1.1 * calls + 10);
    expect(failures).toBe(calls);
  });
});

it("poll takes no budget: a call that is not true yet is no failure", async () => {
  const options = { budget: new RetryBudget(), clock } as object;
  await expect(poll(() => true, options)).rejects.toThrow("budget");
});
