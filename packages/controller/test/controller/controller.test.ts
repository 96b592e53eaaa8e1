import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  type ControllerOptions,
  ExponentialLimiter,
  fromCallback,
  fromIterable,
  type Logger,
  MaxOfLimiter,
  RetryAfterError,
  resync,
  type SourceContext,
  silentLogger,
  TerminalError,
  TokenBucketLimiter,
} from "@holdfast/controller";
import { isTimeoutError } from "@holdfast/wait";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";

const NEVER = new Promise<never>(() => {});

/** A controller that runs, and what it does, with the time of each event from its start. */
function setUp({
  clock = new FakeClock(),
  ...options
}: Partial<ControllerOptions> & { clock?: FakeClock } = {}) {
  const stop = new AbortController();
  const start = clock.monotonic();
  const events: unknown[][] = [];
  const note = (...facts: unknown[]): void =>
    void events.push([clock.monotonic() - start, ...facts]);
  const reconcile = options.reconcile ?? (() => undefined);
  const controller = new Controller({
    name: "test",
    logger: silentLogger,
    clock,
    ...options,
    reconcile(request) {
      note(request.key, request.attempt, request.reason);
      return reconcile(request);
    },
  });
  const run = (): Promise<void> => controller.run(stop.signal);
  const since = (): unknown[][] => events.splice(0);
  return { clock, stop, controller, run, note, since };
}

interface Versioned {
  readonly id: string;
  readonly version: number;
}

/** A controller of items that have versions, and which of them it has looked at. */
function setUpVersions(
  options: Omit<Partial<ControllerOptions<Versioned>>, "keyOf"> &
    Pick<ControllerOptions<Versioned>, "reconcile">,
) {
  const clock = new FakeClock();
  const stop = new AbortController();
  const seen: number[] = [];
  const controller = new Controller<Versioned>({
    name: "items",
    logger: silentLogger,
    clock,
    keyOf: ({ id }) => id,
    ...options,
    reconcile(request) {
      seen.push(request.item.version);
      return options.reconcile(request);
    },
  });
  return { clock, stop, seen, controller };
}

/** Notes what it is told, and by which level. */
function recorder() {
  const lines: [level: string, message: string, details: object][] = [];
  const note = (level: string) => (details: object, message: string) =>
    void lines.push([level, message, details]);
  const logger: Logger = {
    debug: note("debug"),
    info: note("info"),
    warn: note("warn"),
    error: note("error"),
  };
  return { logger, lines };
}

async function end({
  clock,
  stop,
  running,
}: {
  clock: FakeClock;
  stop: AbortController;
  running: Promise<void>;
}) {
  stop.abort("enough");
  await clock.step(0);
  await running;
  expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
}

describe("a reconcile", () => {
  it("forgets a key after success, and retries it with the limiter's delays after failures", async () => {
    let failures = 3;
    const { clock, stop, controller, run, since } = setUp({
      reconcile: () => {
        if (failures-- > 0) throw new Error("not yet");
      },
    });
    const running = run();
    controller.add("a");
    await clock.step(1_000);
    expect(since()).toEqual([
      [0, "a", 1, "add"],
      [5, "a", 2, "retry"],
      [15, "a", 3, "retry"],
      [35, "a", 4, "retry"],
    ]);
    failures = 1;
    controller.add("a", { reason: "again" });
    await clock.step(1_000);
    expect(since()).toEqual([
      [1_000, "a", 1, "again"],
      [1_005, "a", 2, "retry"],
    ]);
    await end({ clock, stop, running });
  });

  it("runs again when its result or its error asks for it", async () => {
    const answers: (() => { requeueAfter: number } | undefined)[] = [
      () => ({ requeueAfter: 100 }),
      () => {
        throw new RetryAfterError(70);
      },
      () => ({ requeueAfter: 0 }),
      () => {
        throw new TerminalError("never");
      },
    ];
    const { clock, stop, controller, run, since } = setUp({ reconcile: () => answers.shift()?.() });
    const running = run();
    controller.add("a");
    await clock.step(10_000);
    expect(since()).toEqual([
      [0, "a", 1, "add"],
      [100, "a", 1, "requeue"],
      [170, "a", 2, "retry"],
      [170, "a", 1, "requeue"],
    ]);
    controller.add("a");
    await clock.step(0);
    expect(since()).toEqual([[10_000, "a", 1, "add"]]);
    await end({ clock, stop, running });
  });

  it("receives a request that can be copied, except for the signal", async () => {
    const copies: unknown[] = [];
    const clock = new FakeClock();
    const stop = new AbortController();
    const controller = new Controller({
      name: "test",
      logger: silentLogger,
      clock,
      reconcile: (request) => void copies.push({ ...request }),
    });
    const running = controller.run(stop.signal);
    controller.add("a");
    await clock.step(0);
    expect(copies).toEqual([{ key: "a", item: "a", attempt: 1, reason: "add" }]);
    await end({ clock, stop, running });
  });

  it("begins after the code that calls run, so it may stop its controller", async () => {
    const { clock, stop, controller, run, since } = setUp({
      workers: 2,
      reconcile: () => stop.abort(),
    });
    controller.add("a");
    controller.add("b");
    const running = run();
    expect(since()).toEqual([]);
    await clock.step(0);
    expect(since()).toEqual([
      [0, "a", 1, "add"],
      [0, "b", 1, "add"],
    ]);
    await running;
    expect(abortListeners(stop.signal)).toBe(0);
    expect(clock.waiters()).toBe(0);
  });

  it("that requeues itself at once lets the event loop turn", async () => {
    const { clock, stop, controller, run, since } = setUp({
      reconcile: () => ({ requeueAfter: 0 }),
    });
    const running = run();
    controller.add("a");
    clock.afterFunc(0, () => stop.abort());
    await clock.step(1);
    await running;
    expect(since().length).toBeLessThan(5);
    expect(clock.waiters()).toBe(0);
  });

  it("sees the latest item, also after a failure", async () => {
    let fail = (): void => {};
    const { clock, stop, seen, controller } = setUpVersions({
      reconcile: ({ item }) => {
        if (item.version === 1)
          return new Promise((_, reject) => {
            fail = () => reject(new Error("old"));
          });
        return undefined;
      },
    });
    const running = controller.run(stop.signal);
    controller.add({ id: "a", version: 1 });
    await clock.step(0);
    controller.add({ id: "a", version: 2 });
    fail();
    await clock.step(10);
    expect(seen).toEqual([1, 2]);
    await end({ clock, stop, running });
  });

  it.each(["fails", "asks for itself", "is given up"])(
    "that %s leaves the item that was added as the older one was handed out",
    async (how) => {
      const gaveUp: number[] = [];
      const { clock, stop, seen, controller } = setUpVersions({
        sources: [
          fromIterable("twice", async function* () {
            yield { id: "a", version: 1 };
            yield { id: "a", version: 2 };
          }),
        ],
        retries: how === "is given up" ? 0 : 1,
        onGiveUp: ({ item }) => gaveUp.push(item.version),
        reconcile: ({ item: { version } }) => {
          if (version === 2) return undefined;
          if (how === "asks for itself") return { requeueAfter: 10 };
          throw new Error("old");
        },
      });
      const running = controller.run(stop.signal);
      await clock.step(1_000);
      expect(seen).toEqual([1, 2]);
      expect(gaveUp).toEqual(how === "is given up" ? [2] : []);
      await end({ clock, stop, running });
    },
  );

  it("is given up after its retries, and counts from 1 afterwards", async () => {
    const error = new Error("broken");
    const gaveUp: unknown[] = [];
    const { clock, stop, controller, run, since } = setUp({
      retries: 2,
      onGiveUp: (giveUp) => gaveUp.push(giveUp),
      reconcile: () => {
        throw error;
      },
    });
    const running = run();
    controller.add("a");
    await clock.step(1_000);
    expect(since().map(([at]) => at)).toEqual([0, 5, 15]);
    expect(gaveUp).toEqual([{ key: "a", item: "a", attempts: 3, error }]);
    controller.add("a");
    await clock.step(0);
    expect(since()).toEqual([[1_000, "a", 1, "add"]]);
    await end({ clock, stop, running });
  });

  it.each([
    ["a TerminalError", new TerminalError("never")],
    ["a RetryAfterError of Infinity", new RetryAfterError(Number.POSITIVE_INFINITY)],
  ])("that is not retried after %s is given up too", async (_, error) => {
    const gaveUp: unknown[] = [];
    const { clock, stop, controller, run } = setUp({
      maxRetryAfter: Number.POSITIVE_INFINITY,
      onGiveUp: (giveUp) => gaveUp.push(giveUp),
      reconcile: () => Promise.reject(error),
    });
    const running = run();
    controller.add("a");
    await clock.step(3_600_000);
    expect(gaveUp).toEqual([{ key: "a", item: "a", attempts: 1, error }]);
    await end({ clock, stop, running });
  });

  it("is not given up because of events during its backoff", async () => {
    const gaveUp: unknown[] = [];
    const { clock, stop, controller, run, since } = setUp({
      retries: 1,
      onGiveUp: (giveUp) => gaveUp.push(giveUp),
      reconcile: () => {
        throw new RetryAfterError(100);
      },
    });
    const running = run();
    for (let i = 0; i < 10; i++) {
      controller.add("a");
      await clock.step(1);
    }
    expect(since().map(([, , attempt]) => attempt)).toEqual([1, ...Array(9).fill(2)]);
    expect(gaveUp).toEqual([]);
    await clock.step(200);
    expect(gaveUp).toHaveLength(1);
    await end({ clock, stop, running });
  });
});

describe("idle", () => {
  it("waits for queued, delayed and failing keys, and resolves at once without any", async () => {
    let failures = 2;
    const { clock, stop, controller, run, since } = setUp({
      reconcile: ({ key }) => {
        if (key === "bad" && failures-- > 0) throw new Error("once more");
      },
    });
    await controller.idle();
    controller.add("late", { after: 1_000 });
    controller.add("bad");
    let isIdle = false;
    const idle = controller.idle().then(() => {
      isIdle = true;
    });
    const running = run();
    await clock.step(999);
    expect([isIdle, since().length]).toEqual([false, 3]);
    await clock.step(1);
    await idle;
    await end({ clock, stop, running });
  });

  it("ends with its signal, and with the controller, whatever is left", async () => {
    const { clock, stop, controller, run } = setUp({ reconcile: () => ({ requeueAfter: 10 }) });
    controller.add("a");
    const give = new AbortController();
    const first = controller.idle(give.signal);
    const second = controller.idle();
    const running = run();
    await clock.step(100);
    give.abort("enough");
    await expect(first).rejects.toBe("enough");
    controller.pause();
    controller.add("left");
    await clock.step(1);
    await end({ clock, stop, running });
    await second;
    await controller.idle();
    expect(controller.status().drain).toMatchObject({ finished: false, queued: ["left"] });
  });
});

describe("runUntilIdle", () => {
  const listing = (items: () => string[] | Promise<string[]>) =>
    resync({ list: items, interval: 60_000 });

  it("stops once all keys are done, also those of a retry", async () => {
    let failures = 2;
    const { clock, stop, controller, since } = setUp({
      reconcile: ({ key }) => {
        if (key === "bad" && failures-- > 0) throw new Error("once more");
      },
    });
    controller.add("late", { after: 1_000 });
    controller.add("bad");
    await clock.run(() => controller.runUntilIdle(stop.signal));
    expect([since().length, controller.status().drain?.finished]).toEqual([4, true]);
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  });

  it("stops at once without keys and sources", async () => {
    const { clock, stop, controller } = setUp({});
    await clock.run(() => controller.runUntilIdle(stop.signal));
    expect(controller.status().state).toBe("stopped");
  });

  it.each([
    {
      name: "a list that takes its time, and fails once",
      source: (clock: FakeClock) => {
        let calls = 0;
        return listing(async () => {
          await clock.sleep(5_000);
          if (calls++ === 0) throw new Error("no answer");
          return ["a", "b"];
        });
      },
    },
    {
      name: "an iterable with pauses",
      source: (clock: FakeClock) =>
        fromIterable("lines", async function* () {
          yield "a";
          await clock.sleep(5_000);
          yield "b";
        }),
    },
    {
      name: "a callback that tells before it returns",
      source: () =>
        fromCallback<string>("files", (tell) => {
          tell("a");
          tell("b");
          return () => {};
        }),
    },
    {
      name: "a source that is ready late",
      source: (clock: FakeClock) => ({
        name: "cache",
        ready: () => clock.sleep(5_000),
        start({ enqueue }: SourceContext<string>) {
          enqueue("a");
          enqueue("b");
        },
      }),
    },
  ])("waits for $name", async ({ source }) => {
    const { clock, stop, controller, since } = setUp({});
    controller.addSource(source(clock));
    await clock.run(() => controller.runUntilIdle(stop.signal));
    expect(since().map(([, key]) => key)).toEqual(["a", "b"]);
    expect(clock.waiters()).toBe(0);
  });

  it("waits for a source that a reconcile has added", async () => {
    const { clock, stop, controller, since } = setUp({
      reconcile: ({ key }) => {
        if (key === "tenant")
          controller.addSource(listing(() => clock.sleep(10).then(() => ["a"])));
      },
    });
    controller.add("tenant");
    await clock.run(() => controller.runUntilIdle(stop.signal));
    expect(since().map(([, key]) => key)).toEqual(["tenant", "a"]);
  });

  it("stops with its signal, and says what was left", async () => {
    const { clock, stop, controller } = setUp({});
    controller.add("late", { after: 1_000 });
    const running = controller.runUntilIdle(stop.signal);
    await clock.step(10);
    stop.abort();
    await clock.run(() => running);
    expect(controller.status().drain).toMatchObject({ delayed: [{ key: "late" }] });
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  });

  it("rejects as a second run does", async () => {
    const { clock, stop, controller } = setUp({});
    await clock.run(() => controller.runUntilIdle(stop.signal));
    await expect(controller.runUntilIdle(stop.signal)).rejects.toThrow("has already run");
  });
});

describe("failures", () => {
  const bucket = (clock: FakeClock) => new TokenBucketLimiter({ qps: 1_000, burst: 1_000, clock });

  it.each([
    { name: "a token bucket", limiterOn: bucket },
    {
      name: "a max-of",
      limiterOn: (clock: FakeClock) => new MaxOfLimiter([bucket(clock), bucket(clock)], { clock }),
    },
  ])(
    "are counted by $name: attempts rise, and the limit of retries ends them",
    async ({ limiterOn }) => {
      const gaveUp: number[] = [];
      const clock = new FakeClock();
      const { stop, controller, run, since } = setUp({
        clock,
        limiter: limiterOn(clock),
        retries: 2,
        onGiveUp: ({ attempts }) => gaveUp.push(attempts),
        reconcile: () => Promise.reject(new Error("broken")),
      });
      const running = run();
      controller.add("a");
      await clock.step(100);
      expect([since().map(([, , attempt]) => attempt), gaveUp]).toEqual([[1, 2, 3], [3]]);
      await end({ clock, stop, running });
    },
  );

  it("are those of the limiter, even if other code counts some", async () => {
    const clock = new FakeClock();
    const limiter = new ExponentialLimiter({ clock });
    limiter.when("a");
    await clock.step(5);
    const { stop, controller, run, since } = setUp({
      clock,
      limiter,
      reconcile: ({ attempt }) =>
        attempt < 3 ? Promise.reject(new Error("broken")) : Promise.resolve(undefined),
    });
    const running = run();
    controller.add("a");
    await clock.step(1_000);
    expect(since()).toEqual([
      [0, "a", 2, "add"],
      [10, "a", 3, "retry"],
    ]);
    expect(limiter.requeues("a")).toBe(0);
    await end({ clock, stop, running });
  });

  it("with their own delay advance the backoff", async () => {
    const { clock, stop, controller, run, since } = setUp({
      reconcile: ({ attempt }) => {
        if (attempt === 1) throw new RetryAfterError(100);
        if (attempt === 2) throw new Error("broken");
      },
    });
    const running = run();
    controller.add("a");
    await clock.step(1_000);
    expect(since()).toEqual([
      [0, "a", 1, "add"],
      [100, "a", 2, "retry"],
      [110, "a", 3, "retry"],
    ]);
    await end({ clock, stop, running });
  });

  it("that name Infinity leave nothing in the queue, and the next failure is retried", async () => {
    const { logger, lines } = recorder();
    const { clock, stop, controller, run, since } = setUp({
      logger,
      reconcile: ({ attempt }) => {
        if (attempt === 1) throw new RetryAfterError(Number.POSITIVE_INFINITY);
        if (attempt === 2) throw new Error("broken");
      },
    });
    const running = run();
    controller.add("a");
    await clock.step(1_000);
    expect(controller.status().queue).toEqual({ size: 0, delayed: 0, inFlight: 0 });
    controller.add("a");
    await clock.step(1_000);
    expect(since()).toEqual([
      [0, "a", 1, "add"],
      [1_000, "a", 2, "add"],
      [1_010, "a", 3, "retry"],
    ]);
    expect(lines.slice(1).map(([level, message]) => `${level}: ${message}`)).toEqual([
      "error: reconcile failed; key not retried",
      "warn: reconcile failed; key retried after delay",
    ]);
    await end({ clock, stop, running });
  });

  it("that name Infinity do not hold back an event that came meanwhile", async () => {
    const { clock, stop, controller, run, since } = setUp({
      reconcile: async ({ attempt }) => {
        if (attempt > 1) return;
        await clock.sleep(10);
        throw new RetryAfterError(Number.POSITIVE_INFINITY);
      },
    });
    const running = run();
    controller.add("a");
    await clock.step(5);
    controller.add("a");
    await clock.step(1_000);
    expect(since()).toEqual([
      [0, "a", 1, "add"],
      [10, "a", 2, "add"],
    ]);
    await end({ clock, stop, running });
  });

  it("that are terminal or interrupted take no token", async () => {
    const clock = new FakeClock();
    const limiter = new TokenBucketLimiter({ qps: 1, burst: 1, clock });
    const { stop, controller, run } = setUp({
      clock,
      limiter,
      workers: 2,
      grace: 0,
      reconcile: ({ key, signal }) => {
        if (key === "terminal") throw new TerminalError("never");
        return clock.sleep(1_000, { signal });
      },
    });
    const running = run();
    controller.add("terminal");
    controller.add("interrupted");
    await clock.step(1);
    await end({ clock, stop, running });
    expect(limiter.when("next")).toBe(0);
  });
});

describe("a timeout", () => {
  it("aborts the signal, and the key is retried", async () => {
    const reasons: unknown[] = [];
    const { clock, stop, controller, run, since } = setUp({
      timeout: 50,
      reconcile: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason);
            reject(signal.reason);
          });
        }),
    });
    const running = run();
    controller.add("a");
    await clock.step(56);
    expect(since().map(([at]) => at)).toEqual([0, 55]);
    expect(reasons.map(isTimeoutError)).toEqual([true]);
    stop.abort();
    await clock.step(100_000);
    await running;
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  });

  it("frees the worker of a reconcile that does not stop, and keeps its key", async () => {
    const { logger, lines } = recorder();
    let settle = (): void => {};
    const { clock, stop, controller, run, since } = setUp({
      timeout: 50,
      abortGrace: 10,
      logger,
      reconcile: ({ key }) =>
        key === "stuck"
          ? new Promise<void>((resolve) => {
              settle = resolve;
            })
          : undefined,
    });
    const running = run();
    controller.add("stuck");
    controller.add("next");
    await clock.step(59);
    expect(controller.status().inFlight).toEqual([
      { key: "stuck", age: 59, attempt: 1, reason: "add", state: "stopping" },
    ]);
    await clock.step(1);
    controller.add("stuck");
    await clock.step(1_000);
    expect(since()).toEqual([
      [0, "stuck", 1, "add"],
      [60, "next", 1, "add"],
    ]);
    expect(controller.status()).toMatchObject({
      workers: { total: 1, busy: 0 },
      inFlight: [{ key: "stuck", age: 1_060, state: "stuck" }],
    });
    expect(lines.filter(([level]) => level === "error").map(([, , details]) => details)).toEqual([
      { controller: "test", key: "stuck", age: 60 },
    ]);
    settle();
    await clock.step(0);
    expect(since()).toEqual([[1_060, "stuck", 1, "add"]]);
    settle();
    await end({ clock, stop, running });
  });

  it("aborts on time a signal that is read late", async () => {
    let late: readonly AbortSignal[] = [];
    let settle = (): void => {};
    const { clock, stop, controller, run } = setUp({
      timeout: 50,
      reconcile: (request) =>
        new Promise<void>((resolve) => {
          settle = () => {
            late = [request.signal, request.signal];
            resolve();
          };
        }),
    });
    const running = run();
    controller.add("a");
    await clock.step(51);
    settle();
    expect([late[0]?.aborted, isTimeoutError(late[0]?.reason)]).toEqual([true, true]);
    expect(late[1]).toBe(late[0]);
    await end({ clock, stop, running });
  });
});

describe("stopping", () => {
  it("finishes keys queued and in flight, and reports delayed keys", async () => {
    const { clock, stop, controller, run, since } = setUp({
      workers: 2,
      reconcile: () => clock.sleep(100),
    });
    const running = run();
    for (const key of ["a", "b", "c"]) controller.add(key);
    controller.add("later", { after: 1_000 });
    await clock.step(50);
    controller.add("a");
    stop.abort();
    controller.add("too late");
    expect(controller.status().state).toBe("stopping");
    await clock.step(250);
    await running;
    expect(since().map(([at, key]) => [at, key])).toEqual([
      [0, "a"],
      [0, "b"],
      [100, "c"],
      [100, "a"],
    ]);
    expect(controller.status()).toMatchObject({
      state: "stopped",
      drain: { finished: true, running: [], queued: [], delayed: [{ key: "later", after: 800 }] },
    });
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  });

  it("aborts keys in flight after the grace, and reports those that continue", async () => {
    const { logger, lines } = recorder();
    const { clock, stop, controller, run, since } = setUp({
      workers: 2,
      grace: 100,
      abortGrace: 20,
      logger,
      reconcile: ({ key, signal }) => (key === "deaf" ? NEVER : clock.sleep(1_000, { signal })),
    });
    const running = run();
    for (const key of ["deaf", "tame", "queued"]) controller.add(key);
    await clock.step(0);
    stop.abort("enough");
    await clock.step(120);
    await running;
    expect(since().map(([, key]) => key)).toEqual(["deaf", "tame"]);
    expect(controller.status().drain).toEqual({
      finished: false,
      running: ["deaf"],
      queued: ["queued"],
      delayed: [{ key: "tame", item: "tame", after: 0 }],
    });
    expect(lines.map(([level]) => level)).toEqual(["info", "error", "error"]);
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  });

  it("has not finished if it interrupted a reconcile that obeyed", async () => {
    const { logger, lines } = recorder();
    const { clock, stop, controller, run } = setUp({
      grace: 100,
      logger,
      reconcile: ({ signal }) => clock.sleep(1_000, { signal }),
    });
    const running = run();
    controller.add("a");
    await clock.step(0);
    stop.abort("enough");
    await clock.step(100);
    await running;
    expect(controller.status().drain).toEqual({
      finished: false,
      running: [],
      queued: [],
      delayed: [{ key: "a", item: "a", after: 0 }],
    });
    expect(lines.at(-1)?.slice(0, 2)).toEqual(["error", "controller stopped with unfinished work"]);
  });

  it("has not finished if a key was taken and did not begin", async () => {
    const { clock, stop, controller, run, since } = setUp();
    const running = run();
    await clock.step(0);
    controller.add("a");
    queueMicrotask(() => controller.pause());
    await clock.step(0);
    await end({ clock, stop, running });
    expect(since()).toEqual([]);
    expect(controller.status().drain).toMatchObject({ finished: false, delayed: [{ key: "a" }] });
  });

  it("has finished if a reconcile returned after the abort of its signal", async () => {
    const { clock, stop, controller, run } = setUp({
      grace: 100,
      reconcile: () => clock.sleep(1_000),
    });
    const running = run();
    controller.add("a");
    await clock.step(0);
    stop.abort();
    await clock.step(1_000);
    await running;
    const drain = { finished: true, running: [], queued: [], delayed: [] };
    expect(controller.status().drain).toEqual(drain);
  });

  it("runs a stuck key once more if it settles in time", async () => {
    let settle = (): void => {};
    const { clock, stop, controller, run, since } = setUp({
      timeout: 10,
      abortGrace: 10,
      reconcile: () =>
        new Promise<void>((resolve) => {
          settle = resolve;
        }),
    });
    const running = run();
    controller.add("a");
    await clock.step(30);
    controller.add("a");
    stop.abort();
    await clock.step(10);
    settle();
    await clock.step(0);
    settle();
    await clock.step(0);
    await running;
    expect(since().map(([at]) => at)).toEqual([0, 40]);
    expect(controller.status().drain?.finished).toBe(true);
  });

  it("runs nothing if the signal is already aborted", async () => {
    const { clock, stop, controller, run, since } = setUp();
    controller.add("a");
    stop.abort();
    await run();
    await clock.step(100);
    expect(since()).toEqual([]);
    expect(controller.status().drain?.queued).toEqual(["a"]);
  });

  it("ignores items added after the end, delayed ones too", async () => {
    const { clock, stop, controller, run } = setUp();
    const running = run();
    await end({ clock, stop, running });
    controller.add("a");
    controller.add("b", { after: 10 });
    expect(controller.status().queue).toEqual({ size: 0, delayed: 0, inFlight: 0 });
  });

  it("begins with the disposal: a run right after it is rejected", async () => {
    const { clock, controller, run, since } = setUp();
    controller.add("a");
    const disposals = [controller[Symbol.asyncDispose](), controller[Symbol.asyncDispose]()];
    await expect(run()).rejects.toThrow(`controller "test" has already run; create a new one`);
    await Promise.all(disposals);
    await clock.step(100);
    expect(since()).toEqual([]);
    expect(controller.status()).toMatchObject({ state: "stopped", drain: { queued: ["a"] } });
    expect(clock.waiters()).toBe(0);
  });

  it("happens at disposal, even before a run, and a controller runs once", async () => {
    const { clock, controller, run } = setUp();
    const running = run();
    await expect(run()).rejects.toThrow(`controller "test" has already run; create a new one`);
    await controller[Symbol.asyncDispose]();
    await running;
    expect(controller.status().state).toBe("stopped");
    const idle = setUp();
    idle.controller.add("a", { after: 10 });
    expect(idle.controller.status().state).toBe("idle");
    await idle.controller[Symbol.asyncDispose]();
    expect([idle.controller.status().state, idle.clock.waiters()]).toEqual(["stopped", 0]);
    await expect(idle.run()).rejects.toThrow("has already run; create a new one");
    expect(clock.waiters()).toBe(0);
  });
});

describe("pausing", () => {
  it("starts no key until it is resumed, not even one taken at that moment", async () => {
    const { clock, stop, controller, run, since } = setUp();
    const running = run();
    await clock.step(0);
    controller.add("a");
    controller.add("b");
    queueMicrotask(() => controller.pause());
    await clock.step(100);
    expect(since()).toEqual([]);
    expect(controller.status().state).toBe("paused");
    controller.pause();
    controller.add("c");
    controller.resume();
    controller.resume();
    await clock.step(0);
    expect(since().map(([at, key]) => [at, key])).toEqual([
      [100, "a"],
      [100, "b"],
      [100, "c"],
    ]);
    await end({ clock, stop, running });
  });

  it("does not prevent a stop: keys in flight finish, and the report names the rest", async () => {
    const { clock, stop, controller, run, since } = setUp({
      grace: Number.POSITIVE_INFINITY,
      reconcile: () => clock.sleep(5),
    });
    const running = run();
    controller.add("a");
    controller.add("b");
    await clock.step(1);
    stop.abort();
    controller.pause();
    controller.resume();
    expect(controller.status().state).toBe("stopping");
    await clock.step(3);
    expect(controller.status().state).toBe("stopping");
    await clock.step(1);
    await running;
    expect(since()).toEqual([[0, "a", 1, "add"]]);
    expect(controller.status().drain).toMatchObject({ finished: false, queued: ["b"] });
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  });

  it("puts back the latest item of a key taken at that moment", async () => {
    const { clock, stop, controller } = setUpVersions({ reconcile: () => undefined });
    const running = controller.run(stop.signal);
    await clock.step(0);
    controller.add({ id: "a", version: 1 });
    queueMicrotask(() => {
      controller.pause();
      controller.add({ id: "a", version: 2 }, { after: 1_000 });
    });
    await clock.step(0);
    await end({ clock, stop, running });
    expect(controller.status().drain?.delayed.map(({ item }) => item.version)).toEqual([2]);
  });

  it("leaves queued keys when it stops, and reports them", async () => {
    const { clock, stop, controller, run, since } = setUp();
    const running = run();
    await clock.step(0);
    controller.add("a");
    controller.add("b");
    queueMicrotask(() => controller.pause());
    await clock.step(0);
    await end({ clock, stop, running });
    controller.resume();
    await clock.step(0);
    expect(since()).toEqual([]);
    const { queued = [], delayed = [] } = controller.status().drain ?? {};
    expect([...queued, ...delayed.map(({ key }) => key)].sort()).toEqual(["a", "b"]);
  });
});

describe("errors of user code", () => {
  it("ends nothing: hooks, logger, metrics, limiter", async () => {
    const boom = (): never => {
      throw new Error("boom");
    };
    const logger = { debug: boom, info: boom, warn: boom, error: boom };
    const { clock, stop, controller, run, since } = setUp({
      retries: 0,
      logger,
      onError: boom,
      onGiveUp: () => Promise.reject(new Error("boom")),
      metrics: { reconciled: boom, activeWorkers: boom, maxWorkers: boom },
      reconcile: boom,
    });
    const running = run();
    controller.add("a");
    await clock.step(5_000);
    controller.add("a");
    await clock.step(0);
    expect(since().map(([at]) => at)).toEqual([0, 5_000]);
    await end({ clock, stop, running });
  });

  it.each([
    [
      "that throws",
      () => {
        throw new Error("boom");
      },
    ],
    ["that returns no number", () => "5" as never],
    ["that returns NaN", () => Number.NaN],
  ])("retries a key after 1 s and counts no failure with a limiter %s", async (_name, answer) => {
    const { logger, lines } = recorder();
    const { clock, stop, controller, run, since } = setUp({
      logger,
      retries: 1,
      limiter: { when: answer, forget: answer, requeues: answer },
      reconcile: () => Promise.reject(new Error("odd")),
    });
    const running = run();
    controller.add("a");
    await clock.step(2_500);
    expect(since()).toEqual([
      [0, "a", 1, "add"],
      [1_000, "a", 1, "retry"],
      [2_000, "a", 1, "retry"],
    ]);
    expect(lines).toContainEqual([
      "error",
      "controller hook failed",
      expect.objectContaining({ hook: "limiter" }),
    ]);
    await end({ clock, stop, running });
  });

  it.each([
    [
      "a result that cannot be read",
      () => ({
        get requeueAfter(): number {
          throw new Error("odd");
        },
      }),
    ],
    [
      "a delay that is not a number",
      () =>
        Promise.reject(
          Object.assign(new Error("odd"), { code: new RetryAfterError(0).code, after: Number.NaN }),
        ),
    ],
  ])("costs no worker: %s", async (_what, answer) => {
    const { clock, stop, controller, run, since } = setUp({
      retries: 1,
      reconcile: ({ key }) => (key === "odd" ? answer() : undefined),
    });
    const running = run();
    controller.add("odd");
    controller.add("next");
    await clock.step(1_000);
    expect(since()).toEqual([
      [0, "odd", 1, "add"],
      [0, "next", 1, "add"],
      [5, "odd", 2, "retry"],
    ]);
    expect(controller.status().lastError?.message).toBe("odd");
    await end({ clock, stop, running });
  });

  it.each([Number.NaN, 1.1, -0.1, "an error"])(
    "ends no source: a random that returns %s only removes its jitter",
    async (drawn) => {
      const { logger, lines } = recorder();
      const starts: number[] = [];
      const random = (): number => {
        if (typeof drawn === "string") throw new Error("no luck");
        return drawn;
      };
      const { clock, stop, run } = setUp({
        logger,
        random,
        sources: [
          fromIterable("broken", () => {
            starts.push(clock.monotonic() - start);
            throw new Error("broken");
          }),
        ],
      });
      const start = clock.monotonic();
      const running = run();
      await clock.step(3_500);
      expect(starts).toEqual([0, 1_000, 3_000]);
      expect(lines).toContainEqual([
        "error",
        "controller hook failed",
        expect.objectContaining({ hook: "random" }),
      ]);
      await end({ clock, stop, running });
    },
  );

  it("reaches onError and the status, whatever value is thrown", async () => {
    const errors: unknown[] = [];
    const hostile = Object.create(null) as object;
    const { clock, stop, controller, run } = setUp({
      onError: (error, origin) => errors.push([error, origin]),
      reconcile: () => Promise.reject(hostile),
    });
    const running = run();
    controller.add("a");
    await clock.step(0);
    expect(errors).toEqual([[hostile, { kind: "reconcile", key: "a", attempt: 1 }]]);
    const { lastError } = JSON.parse(JSON.stringify(controller.status())) as {
      lastError: unknown;
    };
    expect(lastError).toEqual({
      key: "a",
      message: "an error without a readable message",
      at: clock.now(),
    });
    await end({ clock, stop, running });
  });
});

describe("bad input", () => {
  const options = { name: "bad", reconcile: () => undefined };
  it.each<[string, object, string]>([
    ["name", { name: 1 }, "options.name must be a string, got 1"],
    ["reconcile", { reconcile: 1 }, "options.reconcile must be a function"],
    ["keyOf", { keyOf: 1 }, "options.keyOf must be a function"],
    ["clock", { clock: {} }, "options.clock must have a method now()"],
    ["limiter", { limiter: {} }, "options.limiter must have a method when()"],
    ["sources", { sources: 1 }, "options.sources must be an array, got 1"],
    ["a source", { sources: [{}] }, "options.sources[0] must have a method start()"],
    ["workers", { workers: 0 }, "options.workers must be a whole number of at least 1, got 0"],
    ["endless workers", { workers: Number.POSITIVE_INFINITY }, "options.workers must be"],
    ["retries", { retries: -1 }, "options.retries must be a whole number"],
    ["timeout", { timeout: 0 }, "options.timeout must be a number above 0, got 0"],
    ["abortGrace", { abortGrace: -1 }, "options.abortGrace must be a number of at least 0"],
    ["grace", { grace: Number.NaN }, "options.grace must be a number of at least 0"],
    ["aging", { aging: 0 }, "options.aging must be a number above 0"],
    ["onGiveUp", { onGiveUp: 1 }, "options.onGiveUp must be a function"],
    ["onError", { onError: 1 }, "options.onError must be a function"],
    ["random", { random: 1 }, "options.random must be a function"],
    ["logger", { logger: {} }, "options.logger must have a method debug()"],
    ["metrics", { metrics: {} }, "options.metrics must have a method reconciled()"],
    ["queueMetrics", { queueMetrics: {} }, "options.queueMetrics must have a method depth()"],
  ])("is refused: %s", (_name, bad, message) => {
    expect(() => new Controller({ ...options, ...bad } as never)).toThrow(message);
  });

  it("is refused by methods", async () => {
    const controller = new Controller(options);
    expect(() => controller.add(1 as never)).toThrow("the key of an item must be a string, got 1");
    expect(() => controller.add("a", { after: Number.NaN })).toThrow(RangeError);
    await expect(controller.run(undefined as never)).rejects.toThrow(TypeError);
    expect(() => new Controller(undefined as never)).toThrow("options must be an object");
  });
});

describe("a pause", () => {
  function paused() {
    const clock = new FakeClock();
    const stop = new AbortController();
    const runs: string[] = [];
    const controller = new Controller({
      name: "orders",
      clock,
      logger: silentLogger,
      workers: 1,
      reconcile: ({ key }) => void runs.push(key),
    });
    const running = controller.run(stop.signal);
    return { clock, stop, runs, controller, running };
  }

  it("holds back a key although it was resumed and paused again in one tick", async () => {
    for (let microtasks = 0; microtasks < 12; microtasks++) {
      const { clock, stop, runs, controller, running } = paused();
      await clock.step(1);
      controller.add("a"); // the worker takes it in one of these microtasks
      for (let count = 0; count < microtasks && runs.length === 0; count++) await undefined;
      const isLate = runs.length > 0;
      controller.pause();
      for (let count = 0; count < 5; count++) await undefined;
      controller.resume();
      controller.pause();
      for (let count = 0; count < 50; count++) await undefined;
      if (!isLate) expect(runs, `paused after ${microtasks} microtasks`).toEqual([]);
      controller.resume();
      await clock.step(0);
      expect(runs).toEqual(["a"]);
      stop.abort();
      await clock.step(0);
      await running;
    }
  });

  it("and a stop give a key back that was just taken, and wait for nothing", async () => {
    for (let microtasks = 0; microtasks < 12; microtasks++) {
      const { clock, stop, runs, controller, running } = paused();
      await clock.step(1);
      controller.add("a"); // the worker takes it in one of these microtasks
      for (let count = 0; count < microtasks && runs.length === 0; count++) await undefined;
      controller.pause();
      stop.abort();
      const start = clock.monotonic();
      await clock.run(() => running);
      expect([microtasks, clock.monotonic() - start]).toEqual([microtasks, 0]);
    }
  });

  it("while the controller stops ends the wait for queued keys", async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const runs: string[] = [];
    const controller = new Controller({
      name: "orders",
      clock,
      logger: silentLogger,
      workers: 1,
      grace: 60_000,
      reconcile: async ({ key }) => {
        runs.push(key);
        await clock.sleep(1_000);
      },
    });
    const running = controller.run(stop.signal);
    for (const key of ["a", "b", "c"]) controller.add(key);
    await clock.step(500);
    stop.abort();
    await clock.step(0);
    const start = clock.monotonic();
    controller.pause();
    await clock.run(() => running);
    expect(clock.monotonic() - start).toBe(500); // the end of "a"
    expect(runs).toEqual(["a"]);
    expect(controller.status().drain?.queued).toEqual(["b", "c"]);
  });
});

it("a RetryAfterError sets the delay although the limiter fails", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const at: number[] = [];
  const start = clock.monotonic();
  const boom = (): never => {
    throw new Error("limiter is broken");
  };
  const controller = new Controller({
    name: "orders",
    clock,
    logger: silentLogger,
    limiter: { when: boom, forget: boom, requeues: () => 0 },
    reconcile: () => {
      at.push(clock.monotonic() - start);
      if (at.length === 1) throw new RetryAfterError(7_000);
    },
  });
  await clock.run(async () => {
    const running = controller.run(stop.signal);
    controller.add("a");
    await clock.sleep(10_000);
    stop.abort();
    await running;
  });
  expect(at).toEqual([0, 7_000]);
});
