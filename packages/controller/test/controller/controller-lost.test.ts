import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  type ControllerOptions,
  fromCallback,
  type Logger,
  silentLogger,
} from "@holdfast/controller";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";

/** A running controller whose keys take 1 s and obey their signal, unless the options differ. */
function setUp(options: Partial<ControllerOptions> = {}) {
  const clock = new FakeClock();
  const start = clock.monotonic();
  const stop = new AbortController();
  const lost = new AbortController();
  const events: unknown[][] = [];
  const note = (...facts: unknown[]): void =>
    void events.push([clock.monotonic() - start, ...facts]);
  const controller = new Controller({
    name: "test",
    logger: silentLogger,
    clock,
    workers: 2,
    async reconcile({ key, signal }) {
      note("begins", key);
      try {
        await clock.sleep(1_000, { signal });
        note("ends", key);
      } catch (reason) {
        note("aborted", key, reason);
        throw reason;
      }
    },
    ...options,
  });
  const run = (): Promise<void> =>
    controller
      .run({ token: 0, signal: stop.signal, lost: lost.signal, isHeld: true })
      .then(() => note("stopped"));
  const leftovers = (): number[] => [
    clock.waiters(),
    abortListeners(stop.signal),
    abortListeners(lost.signal),
  ];
  return { clock, stop, lost, controller, run, events, leftovers };
}

const KEYS = ["a", "b", "c", "d", "e", "f"];

describe("lost", () => {
  it("aborts keys in flight at once with lost.reason and begins no queued key", async () => {
    const { clock, lost, controller, run, events, leftovers } = setUp();
    const running = run();
    for (const key of KEYS) controller.add(key);
    await clock.step(500);
    lost.abort("lease lost");
    expect(controller.status().state).toBe("stopping");
    await clock.step(0);
    await running;
    expect(events).toEqual([
      [0, "begins", "a"],
      [0, "begins", "b"],
      [500, "aborted", "a", "lease lost"],
      [500, "aborted", "b", "lease lost"],
      [500, "stopped"],
    ]);
    expect(controller.status().drain).toMatchObject({ finished: false, queued: KEYS.slice(2) });
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it("ends the grace of a stop that has begun", async () => {
    const { clock, stop, lost, controller, run, events, leftovers } = setUp();
    const running = run();
    for (const key of KEYS) controller.add(key);
    await clock.step(500);
    stop.abort("shutdown");
    await clock.step(499);
    lost.abort("lease lost");
    await clock.step(0);
    await running;
    expect(events.slice(2)).toEqual([
      [999, "aborted", "a", "lease lost"],
      [999, "aborted", "b", "lease lost"],
      [999, "stopped"],
    ]);
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it("makes a stop finish the keys in flight and leave the queued ones to the next leader", async () => {
    const lines: string[] = [];
    const note = (_: object, message: string): void => void lines.push(message);
    const { clock, stop, controller, run, events, leftovers } = setUp({
      logger: { ...silentLogger, warn: note, error: note },
    });
    const running = run();
    for (const key of KEYS) controller.add(key);
    await clock.step(500);
    stop.abort("shutdown");
    await clock.step(500);
    await running;
    expect(events).toEqual([
      [0, "begins", "a"],
      [0, "begins", "b"],
      [1_000, "ends", "a"],
      [1_000, "ends", "b"],
      [1_000, "stopped"],
    ]);
    expect(controller.status().drain).toMatchObject({ running: [], queued: KEYS.slice(2) });
    expect(lines).toEqual([]);
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it("leaves a key that a worker takes in the moment of the stop to the next leader", async () => {
    const { clock, stop, controller, run, events, leftovers } = setUp();
    const running = run();
    await clock.step(0);
    controller.add("a");
    queueMicrotask(() => stop.abort("shutdown"));
    await clock.step(0);
    await running;
    expect(events).toEqual([[0, "stopped"]]);
    expect(controller.status().drain?.finished).toBe(false);
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it("does not extend abortGrace when it follows the end of the grace", async () => {
    const reasons: unknown[] = [];
    const { clock, stop, lost, controller, run, events, leftovers } = setUp({
      grace: 100,
      abortGrace: 50,
      reconcile: ({ signal }) => {
        signal.addEventListener("abort", () => reasons.push(signal.reason));
        return new Promise(() => {});
      },
    });
    const running = run();
    controller.add("deaf");
    await clock.step(0);
    stop.abort("shutdown");
    await clock.step(120);
    lost.abort("lease lost");
    await clock.step(30);
    await running;
    expect(reasons).toEqual(["shutdown"]);
    expect(events).toEqual([[150, "stopped"]]);
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it("waits abortGrace for a key that ignores its signal", async () => {
    const { clock, lost, controller, run, events, leftovers } = setUp({
      abortGrace: 50,
      reconcile: () => new Promise(() => {}),
    });
    const running = run();
    for (const key of KEYS) controller.add(key);
    await clock.step(10);
    lost.abort("lease lost");
    await clock.step(49);
    expect(events).toEqual([]);
    await clock.step(1);
    await running;
    expect(events).toEqual([[60, "stopped"]]);
    expect(controller.status().drain).toMatchObject({ running: ["a", "b"], queued: KEYS.slice(2) });
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it("leaves a key that ignores its signal abortGrace, not the rest of the grace", async () => {
    const { clock, stop, lost, controller, run, events, leftovers } = setUp({
      grace: 10_000,
      abortGrace: 50,
      reconcile: () => new Promise(() => {}),
    });
    const running = run();
    controller.add("deaf");
    await clock.step(0);
    stop.abort("shutdown");
    await clock.step(100);
    lost.abort("lease lost");
    await clock.step(50);
    await running;
    expect(events).toEqual([[150, "stopped"]]);
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it.each(["lost", "both"])("begins no key when aborted before run: %s", async (which) => {
    const { clock, stop, lost, controller, run, events, leftovers } = setUp();
    for (const key of KEYS) controller.add(key);
    lost.abort("lease lost");
    if (which === "both") stop.abort("shutdown");
    await run();
    await clock.step(10_000);
    expect(events).toEqual([[0, "stopped"]]);
    expect(controller.status().drain?.queued).toEqual(KEYS);
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it("begins no key that a worker has just taken", async () => {
    const { clock, lost, controller, run, events, leftovers } = setUp();
    const running = run();
    await clock.step(0);
    controller.add("a");
    queueMicrotask(() => lost.abort("lease lost"));
    await clock.step(0);
    await running;
    expect(events).toEqual([[0, "stopped"]]);
    const { queued = [], delayed = [] } = controller.status().drain ?? {};
    expect([...queued, ...delayed.map(({ key }) => key)]).toEqual(["a"]);
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it("stops a paused controller", async () => {
    const { clock, lost, controller, run, events, leftovers } = setUp();
    const running = run();
    controller.pause();
    controller.add("a");
    await clock.step(10);
    lost.abort("lease lost");
    await clock.step(0);
    await running;
    expect(events).toEqual([[10, "stopped"]]);
    expect(controller.status().drain?.queued).toEqual(["a"]);
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it("reports no unfinished work when sources obey and nothing is queued", async () => {
    const lines: string[] = [];
    const note = (level: string) => (_details: object, message: string) =>
      void lines.push(`${level}: ${message}`);
    const logger: Logger = {
      debug: note("debug"),
      info: note("info"),
      warn: note("warn"),
      error: note("error"),
    };
    const { clock, lost, run, leftovers } = setUp({
      logger,
      sources: [
        fromCallback("fast", () => () => {}),
        {
          name: "slow",
          start: async ({ clock: own }, signal) => {
            await own.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => own.sleep(20));
          },
        },
      ],
    });
    const running = run();
    await clock.step(10);
    lost.abort("lease lost");
    await clock.step(20);
    await running;
    expect(lines).toEqual(["info: controller started", "info: controller stopped"]);
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it("leaves no listener when it never aborts", async () => {
    const { clock, stop, run, leftovers } = setUp();
    const running = run();
    await clock.step(10);
    expect(leftovers()).toEqual([0, 1, 1]);
    stop.abort("shutdown");
    await running;
    expect(leftovers()).toEqual([0, 0, 0]);
  });
});

describe("lost aborted by a hook as a key begins", () => {
  it("aborts the key and leaves no timer when metrics abort it", async () => {
    const busy: number[] = [];
    const { clock, lost, controller, run, events, leftovers } = setUp({
      timeout: 5_000,
      metrics: {
        activeWorkers: (change) => {
          busy.push(change);
          if (change > 0) lost.abort("lease lost");
        },
        reconciled: () => {},
        maxWorkers: () => {},
      },
    });
    const running = run();
    controller.add("a");
    await clock.step(0);
    await running;
    expect(events).toEqual([
      [0, "begins", "a"],
      [0, "aborted", "a", "lease lost"],
      [0, "stopped"],
    ]);
    expect(leftovers()).toEqual([0, 0, 0]);
    await clock.step(20_000);
    expect([busy, controller.status().workers.busy]).toEqual([[1, -1], 0]);
  });

  it("begins no key when the limiter aborts it", async () => {
    const abort: { now: () => void } = { now: () => {} };
    const requeues = (): number => {
      abort.now();
      return 0;
    };
    const { clock, lost, controller, run, events } = setUp({
      limiter: { when: () => 0, forget: () => {}, requeues },
    });
    abort.now = () => lost.abort("lease lost");
    const running = run();
    controller.add("a");
    await clock.step(0);
    await running;
    expect(events).toEqual([[0, "stopped"]]);
    expect(controller.status().drain?.delayed.map(({ key }) => key)).toEqual(["a"]);
  });
});

describe("the options of run", () => {
  it.each([
    [1, "options must be an object, got 1"],
    [null, "options must be an object, got null"],
    [{ leadership: 1 }, "options.leadership must be an object, got 1"],
    [{ leadership: { lost: 1 } }, "options.leadership.lost must be an AbortSignal, got 1"],
    [
      { leadership: { lost: AbortSignal.abort() } },
      "options.leadership.isHeld must be true or false, got undefined",
    ],
    [{ ref: "no" }, 'options.ref must be true or false, got "no"'],
  ])("are rejected with a TypeError: %j", async (options, message) => {
    const { stop, controller, clock } = setUp();
    const refused = controller.run(stop.signal, options as never);
    await expect(refused).rejects.toThrow(new TypeError(message));
    expect([controller.status().state, clock.waiters()]).toEqual(["idle", 0]);
  });
});
