import { RetryAfterError, TerminalError } from "@holdfast/wait";
import {
  type ConnectAttempt,
  type ConnectOptions,
  connectWithBackoff,
} from "@holdfast/wait/connect";
import { BinaryExponentialBackoff, ExcessiveCollisionsError } from "@holdfast/wait/strategies";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Timeline, type TimelineEvent, timelineOf } from "../../../../test/timeline.ts";
import { type Harness, harnesses } from "../harness.ts";
import { REASONS, stageOn } from "../stage.ts";

const never = Number.POSITIVE_INFINITY;

describe.each(Object.entries(harnesses))("connectWithBackoff on %s", (_name, open) => {
  let harness: Harness;
  let stop: AbortController;
  let timeline: Timeline;
  let expectNothingLeft: () => void;

  beforeEach(() => {
    ({ harness, stop, timeline, expectNothingLeft } = stageOn(open));
  });

  type Connect = (attempt: ConnectAttempt) => Promise<string>;
  type Options = Partial<ConnectOptions<string>>;

  /** Fails after each of these durations in turn, then accepts at once. */
  function failing(...durations: readonly number[]): Connect {
    return async ({ attempt, signal }) => {
      timeline.note(`attempt ${attempt}`);
      const duration = durations[attempt - 1];
      if (duration === undefined) return "connection";
      if (duration > 0) await harness.clock.sleep(duration, { signal });
      throw new Error("refused");
    };
  }

  const hangs: Connect = ({ signal }) => harness.clock.sleep(never, { signal }).then(() => "late");

  /** 100, 200, 400 and so on. */
  const doubling = { duration: 100, factor: 2 };

  function start(connect: Connect, options: Options = {}): Promise<void> {
    const { clock } = harness;
    const { signal } = stop;
    const all = { signal, clock, backoff: doubling, minConnectTimeout: 0, ...options };
    return timeline.noteEnd(connectWithBackoff(connect, all).then(timeline.note));
  }

  const startsIn = (events: readonly TimelineEvent[]) =>
    events.filter(([, event]) => String(event).startsWith("attempt")).map(([at]) => at);

  describe("after a TerminalError or a RetryAfterError", () => {
    const throwing = (...errors: (Error | undefined)[]): Connect => {
      const rest = [...errors];
      return async ({ attempt }) => {
        timeline.note(`attempt ${attempt}`);
        const error = rest.shift();
        if (error !== undefined) throw error;
        return "connection";
      };
    };

    it("rejects at once with a TerminalError, without calling onRetry", async () => {
      const terminal = new TerminalError("bad credentials");
      const onRetry = vi.fn();
      await start(throwing(terminal), { onRetry });
      expect(timeline.events).toEqual([
        [0, "attempt 1"],
        [0, ["rejected", terminal]],
      ]);
      expect(onRetry).not.toHaveBeenCalled();
    });

    it("waits at least as long as a RetryAfterError names, and passes that delay to onRetry", async () => {
      const delays: number[] = [];
      const onRetry = ({ delay }: { delay: number }) => delays.push(delay);
      const end = start(throwing(new RetryAfterError(5_000), new RetryAfterError(1)), { onRetry });
      await harness.step(5_200);
      await end;
      expect(startsIn(timeline.events)).toEqual([0, 5_000, 5_200]);
      expect(delays).toEqual([5_000, 200]);
    });

    it("rejects at once with a RetryAfterError that names Infinity", async () => {
      const error = new RetryAfterError(never);
      await start(throwing(error));
      expect(timeline.events[1]).toEqual([0, ["rejected", error]]);
    });

    it("rejects at once when aborted during the delay of a RetryAfterError", async () => {
      const end = start(throwing(new RetryAfterError(5_000)));
      await harness.step(4_999);
      stop.abort("stop");
      await end;
      expect(timeline.events.at(-1)).toEqual([4_999, ["rejected", "stop"]]);
    });
  });

  it("reads its options once: a second call with the same object does not change the first", async () => {
    const other = new AbortController();
    const options = { signal: stop.signal, clock: harness.clock, backoff: doubling };
    const end = timeline.noteEnd(connectWithBackoff(hangs, options));
    options.signal = other.signal;
    const second = timeline.noteEnd(connectWithBackoff(hangs, options));
    stop.abort("first");
    await end;
    expect(timeline.events).toEqual([[0, ["rejected", "first"]]]);
    other.abort("second");
    await second;
  });

  describe("attempts", () => {
    it("calls connect at once and resolves with the connection", async () => {
      await start(failing());
      expect(timeline.events).toEqual([
        [0, "attempt 1"],
        [0, "connection"],
        [0, "resolved"],
      ]);
    });

    it("calls connect again after each delay, not a millisecond early", async () => {
      const end = start(failing(0, 0, 0));
      await harness.step(699);
      expect(startsIn(timeline.events)).toEqual([0, 100, 300]);
      await harness.step(1);
      await end;
      expect(timeline.events.slice(-3)).toEqual([
        [700, "attempt 4"],
        [700, "connection"],
        [700, "resolved"],
      ]);
    });

    it("uses gRPC's delays by default: 1 s, then 1.6 s plus or minus 20 %", async () => {
      const end = start(failing(0, 0), { backoff: undefined });
      await harness.step(1_000 + 1_279);
      expect(startsIn(timeline.events)).toEqual([0, 1_000]);
      await harness.step(1_921 - 1_279);
      await end;
      expect(startsIn(timeline.events)).toHaveLength(3);
    });

    it("accepts a connect that throws or returns synchronously", async () => {
      const connect = vi.fn((_: ConnectAttempt) => "connection" as never);
      connect.mockImplementationOnce(() => {
        throw new Error("refused");
      });
      const end = start(connect);
      await harness.step(100);
      await end;
      expect(timeline.events).toEqual([
        [100, "connection"],
        [100, "resolved"],
      ]);
    });

    it("starts at the first delay in every call", async () => {
      for (const from of [0, 300]) {
        const end = start(failing(0, 0));
        await harness.step(300);
        await end;
        expect(startsIn(timeline.events).slice(-3)).toEqual([from, from + 100, from + 300]);
      }
    });

    it("never retries after an infinite delay, and can still be aborted", async () => {
      const backoff = { delayFunc: () => () => never };
      const end = start(failing(5), { backoff, minConnectTimeout: never });
      await harness.step(2 ** 40);
      stop.abort("enough");
      await end;
      expect(timeline.events).toEqual([
        [0, "attempt 1"],
        [2 ** 40, ["rejected", "enough"]],
      ]);
    });
  });

  describe("when the strategy has no further delay", () => {
    const backoff = new BinaryExponentialBackoff({
      slotTime: 1,
      attemptLimit: 3,
      random: () => 0.9,
    });

    it("resolves if the last attempt succeeds", async () => {
      const end = start(failing(0, 0), { backoff });
      await harness.step(1_000);
      await end;
      expect(timeline.events).toEqual([
        [0, "attempt 1"],
        [1, "attempt 2"],
        [4, "attempt 3"],
        [4, "connection"],
        [4, "resolved"],
      ]);
    });

    it("rejects with the error of the strategy if the last attempt fails, without calling onRetry", async () => {
      const onRetry = vi.fn();
      const end = start(failing(0, 0, 5), { backoff, onRetry, minConnectTimeout: 1_000 });
      await harness.step(1_000);
      await end;
      expect(timeline.events.at(-1)).toEqual([9, ["rejected", new ExcessiveCollisionsError(3)]]);
      expect(onRetry).toHaveBeenCalledTimes(2);
    });
  });

  describe("starts each delay at the start of the attempt", () => {
    interface DelayCase {
      /** Time until each attempt fails without a time limit. */
      readonly durations: readonly number[];
      readonly minConnectTimeout: number;
      readonly starts: readonly number[];
    }

    it.each(
      Object.entries<DelayCase>({
        "so the time of connecting counts as delay": {
          durations: [60, 150, 1],
          minConnectTimeout: 1_000,
          starts: [0, 100, 300, 700],
        },
        "also if the attempt fails a millisecond after its delay": {
          durations: [101, 201],
          minConnectTimeout: 1_000,
          starts: [0, 101, 302],
        },
        "also if the attempt fails at the end of its delay": {
          durations: [100, 200],
          minConnectTimeout: 1_000,
          starts: [0, 100, 300],
        },
        "and times a hanging attempt out after minConnectTimeout": {
          durations: [never, never, 0],
          minConnectTimeout: 250,
          starts: [0, 250, 500, 900],
        },
        "and times a hanging attempt out after its delay if that is longer": {
          durations: [never, never, never],
          minConnectTimeout: 250,
          starts: [0, 250, 500, 900],
        },
        "and times a hanging attempt out after its delay with a minConnectTimeout of 0": {
          durations: [never, never],
          minConnectTimeout: 0,
          starts: [0, 100, 300],
        },
      }),
    )("%s", async (_, { durations, minConnectTimeout, starts }) => {
      const end = start(failing(...durations), { minConnectTimeout });
      await harness.step(starts.at(-1) as number);
      await end;
      expect(startsIn(timeline.events)).toEqual(starts);
    });

    it("and includes the time of onRetry", async () => {
      const onRetry = () => harness.clock.sleep(60);
      const end = start(failing(30, 30, 150), { onRetry, minConnectTimeout: 1_000 });
      await harness.step(700);
      await end;
      expect(startsIn(timeline.events)).toEqual([0, 100, 300, 700]);
    });
  });

  describe("attempt timeout", () => {
    it("is 20 seconds by default, not a millisecond less", async () => {
      const onRetry = vi.fn();
      const end = start(hangs, { minConnectTimeout: undefined, onRetry });
      await harness.step(19_999);
      expect(onRetry).not.toHaveBeenCalled();
      await harness.step(1);
      expect(onRetry.mock.calls).toMatchObject([[{ error: { name: "TimeoutError" } }]]);
      stop.abort();
      await end;
    });

    it("aborts the signal of the attempt with the error that onRetry receives", async () => {
      const reasons: unknown[] = [];
      const errors: unknown[] = [];
      const connect: Connect = ({ signal, attempt }) => {
        signal.addEventListener("abort", () => {
          timeline.note(`end of ${attempt}`);
          reasons.push(signal.reason);
        });
        return new Promise(() => {});
      };
      const onRetry = (retry: { error: unknown }) => errors.push(retry.error);
      const end = start(connect, { onRetry, minConnectTimeout: 150 });
      await harness.step(350);
      expect(timeline.events).toEqual([
        [150, "end of 1"],
        [350, "end of 2"],
      ]);
      expect(errors).toMatchObject([{ timeout: 150 }, { timeout: 200 }]);
      expect(reasons).toEqual(errors);
      for (const [index, reason] of reasons.entries()) expect(reason).toBe(errors[index]);
      stop.abort();
      await end;
    });

    it("can be infinite", async () => {
      const end = start(hangs, { minConnectTimeout: never });
      await harness.step(1e9);
      expect(timeline.events).toEqual([]);
      stop.abort("enough");
      await end;
      expect(timeline.events).toEqual([[1e9, ["rejected", "enough"]]]);
    });

    it("ignores an error of the attempt that comes later", async () => {
      const onRetry = vi.fn();
      const slow: Connect = async ({ attempt }) => {
        if (attempt === 2) return "connection";
        await harness.clock.sleep(120);
        throw new Error("too late to matter");
      };
      const end = start(slow, { onRetry });
      await harness.step(120);
      await end;
      expect(timeline.events).toEqual([
        [100, "connection"],
        [100, "resolved"],
      ]);
      expect(onRetry.mock.calls).toMatchObject([[{ error: { name: "TimeoutError" } }]]);
    });

    it.each(["with", "without"])(
      "ends an attempt with a late connection, %s onLate",
      async (onLate) => {
        const slow: Connect = async ({ attempt }) => {
          await harness.clock.sleep(attempt === 1 ? 120 : 50);
          return `connection ${attempt}`;
        };
        const late = (connection: string) => timeline.note(`late ${connection}`);
        const end = start(slow, { onLate: onLate === "with" ? late : undefined });
        await harness.step(150);
        await end;
        const lateEvents: TimelineEvent[] = onLate === "with" ? [[120, "late connection 1"]] : [];
        expect(timeline.events).toEqual([...lateEvents, [150, "connection 2"], [150, "resolved"]]);
      },
    );
  });

  describe("passes facts on", () => {
    it("passes attempt, startedAt, delay and timeout to connect", async () => {
      const connect = vi.fn(hangs);
      const now = harness.clock.monotonic();
      const end = start(connect, { minConnectTimeout: 250 });
      await harness.step(600);
      const received = connect.mock.calls.map(([{ signal: _, ...facts }]) => facts);
      expect(received).toEqual([
        { attempt: 1, startedAt: now, delay: 100, timeout: 250 },
        { attempt: 2, startedAt: now + 250, delay: 200, timeout: 250 },
        { attempt: 3, startedAt: now + 500, delay: 400, timeout: 400 },
      ]);
      stop.abort();
      await end;
    });

    it("passes attempt, error and remaining delay to onRetry", async () => {
      const onRetry = vi.fn();
      const end = start(failing(0, 150, 500), { onRetry, minConnectTimeout: 1_000 });
      await harness.step(800);
      await end;
      const error = new Error("refused");
      expect(onRetry.mock.calls).toEqual([
        [{ attempt: 1, error, delay: 100 }],
        [{ attempt: 2, error, delay: 50 }],
        [{ attempt: 3, error, delay: 0 }],
      ]);
    });

    it("rejects with an error of onRetry", async () => {
      const hopeless = new Error("certificate expired");
      const onRetry = async () => {
        throw hopeless;
      };
      await start(failing(0, 0), { onRetry });
      expect(timeline.events).toEqual([
        [0, "attempt 1"],
        [0, ["rejected", hopeless]],
      ]);
    });
  });

  describe("rejects with signal.reason when aborted", () => {
    it("before the call, without calling connect", async () => {
      const connect = vi.fn(hangs);
      for (const reason of REASONS) {
        stop = new AbortController();
        stop.abort(reason);
        await start(connect);
        expect(timeline.events.at(-1)).toEqual([0, ["rejected", stop.signal.reason]]);
      }
      expect(connect).not.toHaveBeenCalled();
    });

    interface AbortCase {
      readonly connect: Connect;
      readonly abortAt: number;
      /** The attempts started until an instant. */
      readonly starts: number;
    }

    it.each(
      Object.entries<() => AbortCase>({
        "during an attempt": () => ({ connect: hangs, abortAt: 50, starts: 1 }),
        "during an attempt that ignores its signal": () => ({
          connect: () => new Promise(() => {}),
          abortAt: 50,
          starts: 1,
        }),
        "during a delay": () => ({ connect: failing(0, 0), abortAt: 250, starts: 2 }),
        "in the tick of the delay": () => ({ connect: failing(0, 0), abortAt: 300, starts: 2 }),
        "in the tick of the timeout": () => ({ connect: hangs, abortAt: 100, starts: 1 }),
      }),
    )("%s", async (_, caseOf) => {
      for (const reason of REASONS) {
        stop = new AbortController();
        timeline = timelineOf(harness.clock);
        const { connect, abortAt, starts } = caseOf();
        const seen = vi.fn(connect);
        harness.clock.afterFunc(abortAt, () => stop.abort(reason));
        const end = start(seen);
        await harness.step(abortAt);
        await end;
        expect(timeline.events.at(-1)).toEqual([abortAt, ["rejected", stop.signal.reason]]);
        expect(seen).toHaveBeenCalledTimes(starts);
        const last = seen.mock.lastCall?.[0].signal;
        if (last?.aborted && abortAt === 50) expect(last.reason).toBe(stop.signal.reason);
        expectNothingLeft();
      }
    });

    it("from within connect", async () => {
      const connect: Connect = async ({ signal }) => {
        stop.abort("inside");
        expect(signal.reason).toBe("inside");
        throw new Error("aborted");
      };
      const onRetry = vi.fn();
      await start(connect, { onRetry });
      expect(timeline.events).toEqual([[0, ["rejected", "inside"]]]);
      expect(onRetry).not.toHaveBeenCalled();
    });

    it("from within the strategy, without calling connect", async () => {
      const connect = vi.fn(hangs);
      const aborting = () => {
        stop.abort("inside");
        return 100;
      };
      await start(connect, { backoff: { delayFunc: () => aborting } });
      expect(timeline.events).toEqual([[0, ["rejected", "inside"]]]);
      expect(connect).not.toHaveBeenCalled();
    });

    it.each([
      { outcomeName: "a value", outcome: () => "value" },
      { outcomeName: "an error", outcome: () => Promise.reject(new Error("too late")) },
    ])("during an onRetry that later settles with $outcomeName", async ({ outcome }) => {
      const end = start(failing(0), { onRetry: () => harness.clock.sleep(30).then(outcome) });
      await harness.step(20);
      stop.abort("enough");
      await end;
      await harness.step(10);
      expect(timeline.events).toEqual([
        [0, "attempt 1"],
        [20, ["rejected", "enough"]],
      ]);
    });

    it("during the last attempt that a strategy allows", async () => {
      const backoff = new BinaryExponentialBackoff({ slotTime: 1, attemptLimit: 1 });
      const late: Connect = async () => {
        await harness.clock.sleep(50);
        throw new Error("refused");
      };
      const end = start(late, { backoff, minConnectTimeout: 100 });
      await harness.step(20);
      stop.abort("enough");
      await end;
      await harness.step(100);
      expect(timeline.events).toEqual([[20, ["rejected", "enough"]]]);
    });

    it("and passes a late connection to onLate", async () => {
      const slow: Connect = () => harness.clock.sleep(80).then(() => "connection");
      const end = start(slow, { onLate: (connection) => timeline.note(`late ${connection}`) });
      await harness.step(50);
      stop.abort("enough");
      await end;
      await harness.step(30);
      expect(timeline.events).toEqual([
        [50, ["rejected", "enough"]],
        [80, "late connection"],
      ]);
    });

    /** Starts, aborts this many microtasks later, and returns all events until the end. */
    async function abortAfter(microtasks: number, connect: Connect, options: Options) {
      stop = new AbortController();
      timeline = timelineOf(harness.clock);
      const end = start(connect, options);
      for (let i = 0; i < microtasks; i++) await undefined;
      stop.abort("enough");
      await end;
      expectNothingLeft();
      return timeline.events.map(([, event]) => String(event)).join("; ");
    }

    it("and loses no connection, at any microtask", async () => {
      const outcomes = new Set<string>();
      const onLate = (connection: string) => timeline.note(`late ${connection}`);
      for (let microtasks = 0; microtasks < 24; microtasks++)
        outcomes.add(await abortAfter(microtasks, async () => "connection", { onLate }));
      expect([...outcomes]).toEqual(["late connection; rejected,enough", "connection; resolved"]);
    });

    it("and does not call onRetry afterwards, at any microtask", async () => {
      const outcomes = new Set<string>();
      const onRetry = () => timeline.note(stop.signal.aborted ? "late onRetry" : "onRetry");
      for (let microtasks = 0; microtasks < 24; microtasks++)
        outcomes.add(await abortAfter(microtasks, failing(0), { onRetry }));
      expect([...outcomes]).toEqual([
        "attempt 1; rejected,enough",
        "attempt 1; onRetry; rejected,enough",
      ]);
    });
  });
});
