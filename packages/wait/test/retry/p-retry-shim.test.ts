import { FakeClock } from "@holdfast/clock/testing";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { BOTH, callersOf } from "../../../../test/callers.ts";
import { errorOf } from "../../../../test/error-of.ts";
import { AbortError, type Context, type Options, pRetry } from "./p-retry-shim.ts";

/** The facts that p-retry's own tests state, on a fake clock, for the shim of the guide. */
describe("p-retry by retry", () => {
  const failure = new Error("inside");
  let clock: FakeClock;
  let calls: number;
  let times: number[];

  beforeEach(() => {
    clock = new FakeClock();
    calls = 0;
    times = [];
  });

  /** Fails before its call number `succeedsAt`. */
  const failing =
    (error: unknown = failure, succeedsAt = Infinity) =>
    async (): Promise<string> => {
      times.push(clock.monotonic());
      if (++calls >= succeedsAt) return "done";
      await clock.sleep(40);
      throw error;
    };
  const run = (work: (attempt: number) => unknown, options: Options = {}) =>
    clock.run(() => pRetry(work, { ...options, clock }));
  /** The delays between the attempts. */
  const delays = () => times.slice(1).map((time, index) => time - (times[index] ?? 0) - 40);

  it("shows the callers in the stack, in their order", async () => {
    const fresh = async () => {
      await Promise.resolve();
      throw new Error("inside");
    };
    const call = () => pRetry(fresh, { retries: 1, clock });
    const { error, callers } = await clock.run(() => callersOf(call));
    expect(callers).toEqual(BOTH);
    const { stack = "" } = error as Error;
    const places = ["fresh", "innerUser", "outerUser"].map((name) => stack.indexOf(name));
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  it("passes the number of the attempt and resolves with the value", async () => {
    expect(await run((attempt) => (attempt === 3 ? "done" : Promise.reject(failure)))).toBe("done");
  });

  it.each([
    ["a synchronous throw", () => expect.unreachable()],
    ["a value that is null", () => null],
  ])("handles %s", async (name, work) => {
    const outcome = run(work, { retries: 0 });
    if (name === "a value that is null") expect(await outcome).toBeNull();
    else expect(await errorOf(outcome)).toBeInstanceOf(Error);
  });

  it.each([0, 1, 3])("makes %i retries and rejects with the last error", async (retries) => {
    expect(await errorOf(run(failing(), { retries }))).toBe(failure);
    expect(calls).toBe(retries + 1);
  });

  it("retries forever", async () => {
    const left: number[] = [];
    const onFailedAttempt = ({ retriesLeft }: Context) => left.push(retriesLeft);
    const options = { retries: Infinity, minTimeout: 0, onFailedAttempt };
    expect(await run(failing(failure, 15), options)).toBe("done");
    expect(new Set(left)).toEqual(new Set([Infinity]));
  });

  it.each([
    ["text", new AbortError("stop"), "stop"],
    ["an error", new AbortError(failure), "inside"],
  ])(
    "ends with the original error of an AbortError of %s, without a hook",
    async (_, thrown, message) => {
      const hooks = { shouldRetry: vi.fn(() => true), onFailedAttempt: vi.fn() };
      const error = (await errorOf(run(failing(thrown), hooks))) as Error;
      expect([error, error.message, calls]).toEqual([thrown.originalError, message, 1]);
      expect([hooks.shouldRetry.mock.calls, hooks.onFailedAttempt.mock.calls]).toEqual([[], []]);
    },
  );

  it("does not retry a TypeError, nor ask shouldRetry", async () => {
    const error = new TypeError("a bug");
    const shouldRetry = vi.fn(() => true);
    expect(await errorOf(run(failing(error), { shouldRetry }))).toBe(error);
    expect([calls, shouldRetry.mock.calls]).toEqual([1, []]);
  });

  it("retries the TypeError of fetch", async () => {
    expect(await run(failing(new TypeError("Failed to fetch"), 3))).toBe("done");
  });

  it("makes a TypeError of a value that is no error", async () => {
    expect(await errorOf(run(failing("text")))).toBeInstanceOf(TypeError);
  });

  it("calls onFailedAttempt after each failure, the last one too, before shouldRetry", async () => {
    const seen: unknown[] = [];
    const onFailedAttempt = ({ error, attemptNumber, retriesLeft }: Context) =>
      seen.push([error === failure, attemptNumber, retriesLeft]);
    const shouldRetry = () => seen.push("shouldRetry") > 0;
    await errorOf(run(failing(), { retries: 2, onFailedAttempt, shouldRetry }));
    expect(seen).toEqual([[true, 1, 2], "shouldRetry", [true, 2, 1], "shouldRetry", [true, 3, 0]]);
  });

  it.each([
    ["no", () => false],
    ["no, later", async () => false],
  ])("ends when shouldRetry says %s", async (_, shouldRetry) => {
    expect(await errorOf(run(failing(), { shouldRetry }))).toBe(failure);
    expect(calls).toBe(1);
  });

  it.each(["onFailedAttempt", "shouldRetry"])(
    "ends with the error that %s throws",
    async (hook) => {
      const thrown = new Error("of the hook");
      const throws = () => {
        throw thrown;
      };
      expect(await errorOf(run(failing(), { [hook]: throws }))).toBe(thrown);
      expect(calls).toBe(1);
    },
  );

  it("freezes the context", async () => {
    const change = (context: Context) => Object.assign(context, { more: 1 });
    expect(await errorOf(run(failing(), { onFailedAttempt: change }))).toBeInstanceOf(TypeError);
  });

  it("waits for onFailedAttempt before the delay", async () => {
    await errorOf(run(failing(), { retries: 1, onFailedAttempt: () => clock.sleep(500) }));
    expect(delays()).toEqual([1_500]);
  });

  it.each<[Options, number[]]>([
    [{}, [1_000, 2_000, 4_000]],
    [{ factor: 0.5 }, [1_000, 500, 250]],
    [{ factor: 0 }, [1_000, 1_000, 1_000]],
    [{ factor: 3, maxTimeout: 2_500 }, [1_000, 2_500, 2_500]],
    [{ minTimeout: 200, maxTimeout: 50 }, [50, 50, 50]],
    [{ minTimeout: 0 }, [0, 0, 0]],
    [{ factor: 1, randomize: true, random: () => 0.5 }, [1_500, 1_500, 1_500]],
  ])("with %o waits %o ms", async (options, expected) => {
    await errorOf(run(failing(), { ...options, retries: 3 }));
    expect(delays()).toEqual(expected);
  });

  it("shortens the last delay to maxRetryTime, and rejects with the error after it", async () => {
    expect(await errorOf(run(failing(), { maxRetryTime: 500 }))).toBe(failure);
    expect(delays()).toEqual([460]);
  });

  it.each([0, 20])("makes one attempt that outlasts a maxRetryTime of %i", async (maxRetryTime) => {
    expect(await errorOf(run(failing(), { maxRetryTime }))).toBe(failure);
    expect(calls).toBe(1);
  });

  it.each([
    ["retries", -1],
    ["retries", Number.NaN],
    ["factor", -1],
    ["minTimeout", -1],
    ["maxTimeout", -1],
    ["maxRetryTime", -1],
  ])("rejects %s of %d", async (name, value) => {
    expect(await errorOf(run(failing(), { [name]: value }))).toBeInstanceOf(RangeError);
    expect(calls).toBe(0);
  });

  it.each([
    ["before the call", 0, 0],
    ["during an attempt", 20, 1],
    ["during a delay", 100, 1],
  ])("rejects with the reason when aborted %s", async (_, at, expected) => {
    const stop = new AbortController();
    if (at === 0) stop.abort(failure);
    else clock.afterFunc(at, () => stop.abort(failure));
    const start = clock.monotonic();
    expect(await errorOf(run(failing(new Error("other")), { signal: stop.signal }))).toBe(failure);
    expect([calls, clock.monotonic() - start]).toEqual([expected, at]);
  });

  it("rejects with the reason when the attempt that aborts succeeds", async () => {
    const stop = new AbortController();
    const work = () => stop.abort(failure);
    expect(await errorOf(run(work, { signal: stop.signal }))).toBe(failure);
  });
});
