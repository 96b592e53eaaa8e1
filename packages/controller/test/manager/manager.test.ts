import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  isRunnableError,
  type Logger,
  Manager,
  type ManagerOptions,
  type Runnable,
  silentLogger,
} from "@holdfast/controller";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { type PartOptions, part } from "./part.ts";

const groups = [{ name: "servers" }, { name: "caches" }, { name: "workers" }];

/** A manager of parts, by group, and what they do. */
function managerOf(
  parts: readonly (readonly [group: string, name: string, options?: PartOptions])[],
  options: ManagerOptions = {},
) {
  const clock = new FakeClock();
  const events: unknown[] = [];
  const manager = new Manager({ clock, groups, logger: silentLogger, ...options });
  for (const [group, name, partOptions] of parts)
    manager.add(part(name, clock, events, partOptions), { group });
  const since = () => events.splice(0);
  const stop = new AbortController();
  return { clock, manager, since, stop };
}

/** The errors of a run, as text, with those that caused them. */
async function problemsOf(run: Promise<void>): Promise<unknown[]> {
  const error: unknown = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof AggregateError)) throw new Error(`no AggregateError: ${String(error)}`);
  return error.errors.map((each) => {
    if (!isRunnableError(each)) throw each;
    return [each.message, ...(each.cause === undefined ? [] : [each.cause])];
  });
}

/** A runnable that records the reason of its abort. */
function noting(clock: FakeClock, reasons: unknown[]): Runnable {
  return {
    name: "noting",
    run: (signal) =>
      clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch((reason: unknown) => {
        reasons.push(reason);
      }),
  };
}

const states = (manager: Manager) => {
  const { state, runnables } = manager.status();
  return [state, ...runnables.map((runnable) => `${runnable.name} ${runnable.state}`)];
};

describe("a manager", () => {
  it("starts groups in order, each when the previous one is ready, and stops them in reverse", async () => {
    const { clock, manager, since, stop } = managerOf([
      ["workers", "w1", { endsAfter: 40 }],
      ["workers", "w2", { endsAfter: 10 }],
      ["caches", "c1", { readyAfter: 500 }],
      ["caches", "c2", { readyAfter: 200 }],
      ["servers", "s"],
    ]);
    const run = manager.run(stop.signal);
    await clock.step(499);
    expect(since()).toEqual([
      [0, "s starts"],
      [0, "c1 starts"],
      [0, "c2 starts"],
      [200, "c2 is ready"],
    ]);
    expect(states(manager)).toEqual([
      "starting",
      "s ready",
      "c1 starting",
      "c2 ready",
      "w1 waiting",
      "w2 waiting",
    ]);
    await clock.step(501);
    expect(since()).toEqual([
      [500, "c1 is ready"],
      [500, "w1 starts"],
      [500, "w2 starts"],
    ]);
    expect(manager.status().state).toBe("running");
    stop.abort(new Error("enough"));
    await clock.step(39);
    expect(since()).toEqual([[1_010, "w2 ends"]]);
    expect(states(manager)).toEqual([
      "stopping",
      "s ready",
      "c1 ready",
      "c2 ready",
      "w1 stopping",
      "w2 stopped",
    ]);
    await clock.step(1);
    await run;
    expect(since()).toEqual([
      [1_040, "w1 ends"],
      [1_040, "c1 ends"],
      [1_040, "c2 ends"],
      [1_040, "s ends"],
    ]);
    expect(new Set(states(manager).map((state) => state.split(" ").at(-1)))).toEqual(
      new Set(["stopped"]),
    );
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  });

  it("puts a runnable without a group into the last one, and has one group if none is named", async () => {
    const add = (manager: Manager) => {
      manager.add(part("a", new FakeClock(), []));
      return manager.status().runnables;
    };
    expect(add(new Manager({ groups }))).toEqual([
      { name: "a", group: "workers", state: "waiting" },
    ]);
    expect(add(new Manager())).toEqual([{ name: "a", group: "main", state: "waiting" }]);
  });

  it("starts nothing if its signal has aborted already", async () => {
    const { clock, manager, since } = managerOf([["servers", "s"]]);
    const signal = AbortSignal.abort();
    await manager.run(signal);
    expect(since()).toEqual([]);
    expect(states(manager)).toEqual(["stopped", "s waiting"]);
    expect([clock.waiters(), abortListeners(signal)]).toEqual([0, 0]);
  });

  it("passes the reason of the stop to the runnables, the same object", async () => {
    const { clock, manager, stop } = managerOf([]);
    const reasons: unknown[] = [];
    manager.add(noting(clock, reasons));
    const run = manager.run(stop.signal);
    await clock.step(1);
    const reason = new Error("enough");
    stop.abort(reason);
    await run;
    expect(reasons).toHaveLength(1);
    expect(reasons[0]).toBe(reason);
  });

  it("stops for a reason that cannot be shown", async () => {
    const reasons: unknown[] = [];
    const { clock, manager, stop } = managerOf([]);
    manager.add(noting(clock, reasons));
    const run = manager.run(stop.signal);
    await clock.step(1);
    const reason: unknown = Object.create(null);
    stop.abort(reason);
    await run;
    expect(reasons[0]).toBe(reason);
    expect(states(manager)).toEqual(["stopped", "noting stopped"]);
  });

  it("runs without a signal until it is disposed", async () => {
    const { clock, manager, since } = managerOf([["servers", "s", { endsAfter: 5 }]]);
    let hasEnded = false;
    const run = manager.run().then(() => {
      hasEnded = true;
    });
    await clock.step(100);
    since();
    const disposed = manager[Symbol.asyncDispose]();
    await clock.step(4);
    expect([since(), hasEnded]).toEqual([[], false]);
    await clock.step(1);
    await disposed;
    await run;
    expect([since(), clock.waiters()]).toEqual([[[105, "s ends"]], 0]);
  });

  it("waits forever with a timeout of Infinity, and arms no timer", async () => {
    const patient = {
      startTimeout: Number.POSITIVE_INFINITY,
      stopTimeout: Number.POSITIVE_INFINITY,
    };
    const { clock, manager, since, stop } = managerOf(
      [["main", "m", { readyAfter: 1e9, endsAfter: 1e9 }]],
      { stopTimeout: Number.POSITIVE_INFINITY, groups: [{ name: "main", ...patient }] },
    );
    const run = manager.run(stop.signal);
    await clock.step(1e9);
    expect([manager.status().state, clock.waiters()]).toEqual(["running", 1]);
    stop.abort();
    await clock.step(1);
    expect(clock.waiters()).toBe(1);
    await clock.step(1e9);
    await run;
    expect(since().at(-1)).toEqual([2e9, "m ends"]);
  });

  it("starts nothing when disposed before run, and ignores a second disposal", async () => {
    const { manager, since } = managerOf([["servers", "s"]]);
    await manager[Symbol.asyncDispose]();
    await manager[Symbol.asyncDispose]();
    await expect(manager.run()).rejects.toThrow("manager is already stopped; create a new one");
    expect(since()).toEqual([]);
  });

  it("does not reject when it is disposed; `run` does", async () => {
    const error = new Error("boom");
    const { clock, manager } = managerOf([["servers", "s", { endsAt: 10, error }]]);
    const problems = problemsOf(manager.run());
    await clock.step(10);
    await manager[Symbol.asyncDispose]();
    expect(await problems).toEqual([['"s" failed: boom', error]]);
  });

  it("runs once, and accepts no runnable afterwards", async () => {
    const { clock, manager, stop } = managerOf([["servers", "s"]]);
    const run = manager.run(stop.signal);
    await expect(manager.run()).rejects.toThrow("manager is already starting; create a new one");
    expect(() => manager.add(part("late", clock, []))).toThrow(
      "add runnables before run(); this manager is starting",
    );
    stop.abort();
    await run;
  });

  it("logs every event", async () => {
    const lines: unknown[] = [];
    const note =
      (level: string) =>
      (details: object, message: string): void => {
        lines.push([level, message, details]);
      };
    const logger: Logger = {
      debug: note("debug"),
      info: note("info"),
      warn: note("warn"),
      error: note("error"),
    };
    const error = new Error("boom");
    const { clock, manager } = managerOf([["servers", "s", { endsAt: 10, error }]], { logger });
    const problems = problemsOf(manager.run());
    await clock.step(10);
    await problems;
    expect(lines).toEqual([
      ["info", "manager running: every runnable is ready", {}],
      ["error", '"s" failed: boom', { err: expect.objectContaining({ cause: error }) as unknown }],
      ["info", "manager stopping", { reason: '"s" failed: boom' }],
      ["debug", "group stopped", { group: "workers" }],
      ["debug", "group stopped", { group: "caches" }],
      ["debug", "group stopped", { group: "servers" }],
      ["info", "manager stopped", {}],
    ]);
  });
});

describe("when a runnable of a manager", () => {
  const boom = new Error("boom");

  it.each<{ what: string; options: PartOptions; problem: unknown[] }>([
    { what: "fails", options: { endsAt: 70, error: boom }, problem: ['"c" failed: boom', boom] },
    { what: "ends early", options: { endsAt: 70 }, problem: ['"c" ended'] },
  ])("$what, the rest stops in order", async ({ options, problem }) => {
    const { clock, manager, since, stop } = managerOf([
      ["servers", "s"],
      ["caches", "c", options],
      ["workers", "w", { endsAfter: 20 }],
    ]);
    const problems = problemsOf(manager.run(stop.signal));
    await clock.step(69);
    since();
    await clock.step(100);
    expect(await problems).toEqual([problem]);
    expect(since()).toEqual([
      [70, "c ends"],
      [90, "w ends"],
      [90, "s ends"],
    ]);
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  });

  it("fails while it starts, the groups after it never start", async () => {
    const { clock, manager, since } = managerOf([
      ["servers", "s"],
      ["caches", "c", { readyAfter: 100, endsAt: 50, error: boom }],
      ["workers", "w"],
    ]);
    const problems = problemsOf(manager.run());
    await clock.step(50);
    expect(await problems).toEqual([['"c" failed: boom', boom]]);
    expect(since()).toEqual([
      [0, "s starts"],
      [0, "c starts"],
      [50, "c ends"],
      [50, "s ends"],
    ]);
    expect(states(manager)).toEqual(["stopped", "s stopped", "c failed", "w waiting"]);
    expect(clock.waiters()).toBe(0);
  });

  it("throws instead of rejecting, it fails too", async () => {
    const { manager } = managerOf([]);
    manager.add({
      name: "thrower",
      run: () => {
        throw boom;
      },
    });
    expect(await problemsOf(manager.run())).toEqual([['"thrower" failed: boom', boom]]);
  });

  it("reports that it will never be ready, the rest stops", async () => {
    const { clock, manager, since } = managerOf([["workers", "w"]]);
    const broken: Runnable = {
      ...part("c", clock, []),
      ready: () => Promise.reject(boom),
    };
    manager.add(broken, { group: "caches" });
    expect(await problemsOf(manager.run())).toEqual([['"c" not ready: boom', boom]]);
    expect(since()).toEqual([]);
    expect(clock.waiters()).toBe(0);
  });

  it("rejects `run` and `ready` with one error, it is one problem", async () => {
    for (const first of ["run", "ready"]) {
      const { clock, manager } = managerOf([]);
      const fail = (member: string) => async () => {
        await clock.sleep(member === first ? 1 : 2);
        throw boom;
      };
      manager.add({ name: "c", run: fail("run"), ready: fail("ready") });
      const problems = problemsOf(manager.run());
      await clock.step(2);
      const text = first === "run" ? '"c" failed: boom' : '"c" not ready: boom';
      expect(await problems).toEqual([[text, boom]]);
    }
  });

  it("fails, and is not ready for another reason, these are two problems", async () => {
    const { manager } = managerOf([]);
    const other = new Error("no port");
    manager.add({
      name: "c",
      run: () => Promise.reject(boom),
      ready: () => Promise.reject(other),
    });
    expect(await problemsOf(manager.run())).toEqual([
      ['"c" failed: boom', boom],
      ['"c" not ready: no port', other],
    ]);
  });

  it("fails during the stop, all errors are collected in their order", async () => {
    const { clock, manager, stop } = managerOf([["servers", "s", { endsAfter: 28_000 }]]);
    const last = new Error("cannot flush");
    for (const [name, after] of [
      ["late", 9],
      ["early", 3],
    ] as const)
      manager.add({
        name,
        async run(signal) {
          await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => clock.sleep(after));
          throw last;
        },
      });
    const run = manager.run(stop.signal);
    const problems = problemsOf(run);
    await clock.step(1);
    stop.abort();
    await clock.step(60_000);
    expect(await problems).toEqual([
      ['"early" failed: cannot flush', last],
      ['"late" failed: cannot flush', last],
      ['"s" not stopped within 27991 ms'],
    ]);
    await expect(run).rejects.toThrow(
      '"early" failed: cannot flush; "late" failed: cannot flush; "s" not stopped within 27991 ms',
    );
  });

  it("stops a runnable that became ready during shutdown", async () => {
    const { clock, manager, since, stop } = managerOf([]);
    const late = part("late", clock, [], { endsAfter: 500 });
    manager.add({ ...late, ready: () => clock.sleep(100) });
    const run = manager.run(stop.signal);
    await clock.step(50);
    stop.abort();
    await clock.step(100);
    expect(states(manager)).toEqual(["stopping", "late stopping"]);
    await clock.step(400);
    await run;
    expect([since(), states(manager), clock.waiters()]).toEqual([
      [],
      ["stopped", "late stopped"],
      0,
    ]);
  });

  it("ends early during a stop, there is no error: a child may have received the same Ctrl-C", async () => {
    const { clock, manager, since, stop } = managerOf([
      ["servers", "s", { endsAt: 105 }],
      ["workers", "w", { endsAfter: 50 }],
    ]);
    const run = manager.run(stop.signal);
    await clock.step(100);
    since();
    stop.abort();
    await clock.step(100);
    await run;
    expect(since()).toEqual([
      [105, "s ends"],
      [150, "w ends"],
    ]);
  });

  it("rejects with an AbortError around the reason, as Node's own functions do, it has stopped", async () => {
    const { clock, manager, stop } = managerOf([]);
    manager.add({
      name: "node",
      run: (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            reject(Object.assign(new Error("aborted"), { name: "AbortError" }));
          });
        }),
    });
    const run = manager.run(stop.signal);
    await clock.step(1);
    expect(states(manager)).toEqual(["running", "node ready"]);
    stop.abort(new Error("enough"));
    await expect(run).resolves.toBeUndefined();
  });

  it("rejects with an AbortError before its abort, it has failed", async () => {
    const { manager } = managerOf([]);
    const error = new DOMException("not mine", "AbortError");
    manager.add({ name: "a", run: () => Promise.reject(error) });
    expect(await problemsOf(manager.run())).toEqual([['"a" failed: not mine', error]]);
  });
});

describe("a manager does not have the known defects:", () => {
  it("the runnable that did not stop is not named (controller-runtime#3239)", async () => {
    const { clock, manager, since, stop } = managerOf(
      [
        ["servers", "s"],
        ["workers", "stuck", { endsAfter: 90_000 }],
        ["workers", "quick"],
      ],
      { groups: [{ name: "servers" }, { name: "workers", stopTimeout: 5_000 }] },
    );
    const problems = problemsOf(manager.run(stop.signal));
    await clock.step(1_000);
    since();
    stop.abort();
    await clock.step(4_999);
    expect(since()).toEqual([[1_000, "quick ends"]]);
    await clock.step(1);
    expect(await problems).toEqual([['"stuck" not stopped within 5000 ms']]);
    expect(since()).toEqual([[6_000, "s ends"]]);
    expect(states(manager)).toEqual(["stopped", "s stopped", "stuck stopping", "quick stopped"]);
  });

  it("a failure after the stop timeout is an unhandled rejection", async () => {
    const logged: unknown[] = [];
    const logger = {
      debug() {},
      info() {},
      warn() {},
      error: (_details: object, message: string) => void logged.push(message),
    };
    const { clock, manager, stop } = managerOf([], {
      logger,
      groups: [{ name: "main", stopTimeout: 0 }],
    });
    manager.add({
      name: "slow",
      async run(signal) {
        await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => clock.sleep(100));
        throw new Error("too late");
      },
    });
    const run = manager.run(stop.signal);
    const problems = problemsOf(run);
    await clock.step(1);
    stop.abort();
    await clock.step(1);
    expect(await problems).toEqual([['"slow" not stopped within 0 ms']]);
    await clock.step(200);
    expect(logged).toEqual(['"slow" not stopped within 0 ms', '"slow" failed: too late']);
    expect(await problemsOf(run)).toHaveLength(1);
  });

  it("a slow group starves the ones that stop after it", async () => {
    const { clock, manager, since, stop } = managerOf(
      [
        ["servers", "s", { endsAfter: 2_999 }],
        ["caches", "c", { endsAfter: 999 }],
        ["workers", "w", { endsAfter: 23_999 }],
      ],
      { groups: [{ name: "servers", stopTimeout: 3_000 }, ...groups.slice(1)] },
    );
    const run = manager.run(stop.signal);
    await clock.step(0);
    since();
    stop.abort();
    await clock.step(28_000);
    await run;
    expect(since()).toEqual([
      [23_999, "w ends"],
      [24_998, "c ends"],
      [27_997, "s ends"],
    ]);
  });

  it.each<{ name: string; times: (number | undefined)[]; total?: number; ends: string[] }>([
    {
      name: "a share of 28 s each, and keep 1 s for each group that stops later",
      times: [undefined, undefined, undefined],
      ends: ["26000 workers", "1000 caches", "1000 servers"],
    },
    {
      name: "what other groups do not claim",
      times: [3_000, undefined, undefined],
      ends: ["24000 workers", "1000 caches", "3000 servers"],
    },
    {
      name: "their own time",
      times: [28_000, 0, 0],
      ends: ["0 workers", "0 caches", "28000 servers"],
    },
    {
      name: "equal shares of a short total",
      times: [undefined, undefined, undefined],
      total: 300,
      ends: ["100 workers", "100 caches", "100 servers"],
    },
  ])("groups that hang take $name", async ({ times, total, ends }) => {
    const parts = groups.map(({ name }) => [name, name, { endsAfter: 1e9 }] as const);
    const { clock, manager, stop } = managerOf(parts, {
      stopTimeout: total,
      groups: groups.map(({ name }, index) => ({ name, stopTimeout: times[index] })),
    });
    const problems = problemsOf(manager.run(stop.signal));
    await clock.step(1);
    stop.abort();
    await clock.step(total ?? 28_000);
    const texts = ends.map((end) => end.split(" "));
    expect(await problems).toEqual(
      texts.map(([time, name]) => [`"${name}" not stopped within ${time} ms`]),
    );
  });

  it("refuses groups that claim more than the total time", () => {
    const claims = [20_000, 9_000].map((stopTimeout) => ({ name: `${stopTimeout}`, stopTimeout }));
    expect(() => new Manager({ groups: claims })).toThrow(
      new RangeError(
        "options.stopTimeout must be at least the stopTimeout of all groups together (29000), got 28000",
      ),
    );
    expect(() => new Manager({ stopTimeout: 29_000, groups: claims })).not.toThrow();
  });

  it("one runnable that is never ready blocks the start forever", async () => {
    const { clock, manager, since } = managerOf(
      [
        ["servers", "s"],
        ["caches", "never", { readyAfter: Number.POSITIVE_INFINITY }],
        ["caches", "soon", { readyAfter: 10 }],
        ["workers", "w"],
      ],
      {
        groups: [{ name: "servers" }, { name: "caches", startTimeout: 800 }, { name: "workers" }],
      },
    );
    const problems = problemsOf(manager.run());
    await clock.step(799);
    expect(manager.status().state).toBe("starting");
    since();
    await clock.step(1);
    expect(await problems).toEqual([['"never" not ready within 800 ms']]);
    expect(since()).toEqual([
      [800, "never ends"],
      [800, "soon ends"],
      [800, "s ends"],
    ]);
    expect(clock.waiters()).toBe(0);
  });

  it("the start spins when it is stopped before all are ready (controller-runtime#3440)", async () => {
    const { clock, manager, since, stop } = managerOf([
      ["caches", "c", { readyAfter: Number.POSITIVE_INFINITY, endsAfter: 10_000 }],
    ]);
    const run = manager.run(stop.signal);
    await clock.step(10);
    expect(clock.waiters()).toBe(3); // c runs, c gets ready, the time to start
    stop.abort();
    await clock.step(1);
    expect(clock.waiters()).toBe(2); // c cleans up, the time to stop
    await clock.step(10_000);
    await run;
    expect(since()).toEqual([
      [0, "c starts"],
      [10_010, "c ends"],
    ]);
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  });

  it("starts a part that needs leadership during a shutdown (controller-runtime#2719)", async () => {
    const { clock, manager, since, stop } = managerOf([
      ["caches", "elector", { readyAfter: 1_000, endsAfter: 5_000 }],
      ["workers", "leader's work"],
    ]);
    const run = manager.run(stop.signal);
    await clock.step(999);
    stop.abort();
    await clock.step(10_000);
    await run;
    expect(since()).toEqual([
      [0, "elector starts"],
      [5_999, "elector ends"],
    ]);
  });

  it("the lease is released while its holder still works (controller-runtime#1132)", async () => {
    const { clock, manager, since } = managerOf([
      ["caches", "elector", { endsAt: 100, error: new Error("leadership lost") }],
      ["workers", "leader's work", { endsAfter: 3_000 }],
    ]);
    const problems = problemsOf(manager.run());
    await clock.step(10_000);
    expect(await problems).toHaveLength(1);
    expect(since().slice(2)).toEqual([
      [100, "elector ends"],
      [3_100, "leader's work ends"],
    ]);
  });
});

describe("a manager with a logger that fails", () => {
  const line = new Error("no space left for a log line");
  const loggers: [string, () => unknown][] = [
    [
      "throws",
      () => {
        throw line;
      },
    ],
    ["rejects", () => Promise.reject(line)],
  ];

  it.each(loggers)("%s: starts and stops every runnable", async (_, fail) => {
    const logger: Logger = { debug: fail, info: fail, warn: fail, error: fail };
    const { clock, manager, since, stop } = managerOf(
      [
        ["workers", "w"],
        ["servers", "s"],
      ],
      { logger },
    );
    const run = manager.run(stop.signal);
    await clock.step(0);
    expect(states(manager)).toEqual(["running", "s ready", "w ready"]);
    stop.abort();
    await run;
    expect(states(manager)).toEqual(["stopped", "s stopped", "w stopped"]);
    expect(since().map((event) => (event as unknown[])[1])).toEqual([
      "s starts",
      "w starts",
      "w ends",
      "s ends",
    ]);
  });

  it.each(loggers)("%s: a failure still stops every runnable", async (_, fail) => {
    const logger: Logger = { debug: fail, info: fail, warn: fail, error: fail };
    const error = new Error("boom");
    const { clock, manager } = managerOf(
      [
        ["workers", "w", { endsAt: 5, error }],
        ["servers", "s"],
      ],
      { logger },
    );
    const problems = problemsOf(manager.run());
    await clock.step(5);
    expect(states(manager)).toEqual(["stopped", "s stopped", "w failed"]);
    expect(await problems).toEqual([['"w" failed: boom', error]]);
  });
});

describe("the signals of the operating system", () => {
  function fakeProcess() {
    const listeners: [name: string, listener: () => void][] = [];
    const codes: number[] = [];
    return {
      codes,
      listeners,
      send: (wanted: string) => {
        for (const [name, listener] of [...listeners]) if (name === wanted) listener();
      },
      source: {
        on: (name: string, listener: () => void) => void listeners.push([name, listener]),
        off: (name: string, listener: () => void) => {
          const at = listeners.findIndex((pair) => pair[0] === name && pair[1] === listener);
          listeners.splice(at, 1);
        },
        exit: (code: number) => void codes.push(code),
      },
    };
  }

  it.each<{ second: string; code: number }>([
    { second: "SIGTERM", code: 143 },
    { second: "SIGINT", code: 130 },
  ])(
    "stop at the first, ignore others for 1 s, end the process at once at a $second after it",
    async ({ second, code }) => {
      const { source, send, codes, listeners } = fakeProcess();
      const { clock, manager, since } = managerOf([["servers", "s", { endsAfter: 1_500 }]], {
        signals: source,
      });
      expect(listeners).toEqual([]);
      const run = manager.run();
      expect(listeners.map(([name]) => name)).toEqual(["SIGINT", "SIGTERM"]);
      await clock.step(1);
      since();
      send("SIGTERM");
      send("SIGINT"); // nodemon sends three
      await clock.step(999);
      send(second);
      expect([since(), codes]).toEqual([[], []]);
      await clock.step(1);
      send(second);
      expect(codes).toEqual([code]);
      await clock.step(500);
      await run;
      expect([since(), listeners]).toEqual([[[1_501, "s ends"]], []]);
    },
  );

  it("give the runnables a reason that names the signal", async () => {
    const { source, send } = fakeProcess();
    const { clock, manager } = managerOf([], { signals: source });
    const reasons: unknown[] = [];
    manager.add(noting(clock, reasons));
    const run = manager.run();
    await clock.step(1);
    send("SIGINT");
    await run;
    expect(reasons.map(String)).toEqual(["AbortError: SIGINT arrived"]);
  });

  it("have no listener left after a failure", async () => {
    const { source, listeners } = fakeProcess();
    const { manager } = managerOf([], { signals: source });
    manager.add({ name: "a", run: () => Promise.reject(new Error("boom")) });
    await problemsOf(manager.run());
    expect(listeners).toEqual([]);
  });

  it("come from `process` without an adapter", async () => {
    const { manager, stop } = managerOf([], { signals: process });
    const before = process.listenerCount("SIGTERM");
    const run = manager.run(stop.signal);
    expect(process.listenerCount("SIGTERM")).toBe(before + 1);
    stop.abort();
    await run;
    expect(process.listenerCount("SIGTERM")).toBe(before);
  });
});

describe("the stop of a manager", () => {
  it("is not logged as running when a runnable ends in the tick in which the last is ready", async () => {
    const clock = new FakeClock();
    const logged: string[] = [];
    const logger = { ...silentLogger, info: (_: object, message: string) => logged.push(message) };
    const manager = new Manager({ clock, logger });
    const stop = new AbortController();
    manager.add({
      name: "late",
      run: (signal) => clock.sleep(Number.POSITIVE_INFINITY, { signal }),
      ready: async () => stop.abort(new Error("SIGTERM")),
    });
    await clock.run(() => manager.run(stop.signal));
    expect(logged).toEqual(["manager stopping", "manager stopped"]);
  });

  it("waits for a controller with a long grace, if it has the time", async () => {
    const clock = new FakeClock();
    const manager = new Manager({ clock, stopTimeout: 66_000, logger: silentLogger });
    const controller = new Controller({
      name: "slow",
      clock,
      logger: silentLogger,
      grace: 60_000,
      reconcile: () => clock.sleep(59_000),
    });
    expect(controller.stopTimeout).toBe(65_000);
    manager.add(controller);
    controller.add("a");
    const stop = new AbortController();
    await clock.run(async () => {
      const running = manager.run(stop.signal);
      await clock.sleep(1);
      stop.abort();
      await running;
    });
    expect(controller.status().drain?.finished).toBe(true);
  });

  it("takes the longest stopTimeout of a group, plus a second, if it has the time", async () => {
    const clock = new FakeClock();
    const manager = new Manager({ clock, stopTimeout: 60_000, logger: silentLogger });
    const stuck = { run: () => new Promise<void>(() => {}) };
    manager.add({ name: "a", stopTimeout: 40_000, ...stuck });
    manager.add({ name: "b", stopTimeout: 50_000, ...stuck });
    manager.add({ name: "c", ...stuck });
    const stop = new AbortController();
    const start = clock.monotonic();
    await clock.run(async () => {
      const running = manager.run(stop.signal).catch(() => {});
      await clock.sleep(0);
      stop.abort();
      await running;
    });
    expect(clock.monotonic() - start).toBe(51_000);
  });

  it("never takes longer than its time, although an earlier group ends between milliseconds", async () => {
    const clock = new FakeClock();
    const groups = [{ name: "first" }, { name: "second" }];
    const manager = new Manager({ clock, groups, logger: silentLogger });
    const ends = (after: number) => async (signal: AbortSignal) => {
      await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => {});
      await clock.sleep(after);
    };
    manager.add({ name: "stuck", run: ends(Number.POSITIVE_INFINITY) }, { group: "first" });
    manager.add({ name: "slow", run: ends(1_000.5) }, { group: "second" });
    const stop = new AbortController();
    const start = clock.monotonic();
    await clock.run(async () => {
      const running = manager.run(stop.signal).catch(() => {});
      await clock.sleep(0);
      stop.abort();
      await running;
    });
    expect(clock.monotonic() - start).toBeLessThanOrEqual(28_000);
  });

  it("prints no warning of Node for 11 runnables with a native listener each", async () => {
    const warnings: string[] = [];
    const note = (warning: Error): void => void warnings.push(warning.message);
    process.on("warning", note);
    const manager = new Manager({ logger: silentLogger });
    for (let member = 0; member < 11; member++)
      manager.add({
        name: `${member}`,
        run: (signal) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => resolve());
          }),
      });
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    stop.abort();
    await running;
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });

  it("leaves nothing when the source of signals throws", async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const offs: string[] = [];
    const signals = {
      on: (name: string) => {
        if (name === "SIGTERM") throw new Error("no signals here");
      },
      off: (name: string) => offs.push(name),
      exit: () => {},
    };
    const manager = new Manager({ clock, signals, logger: silentLogger });
    await expect(manager.run(stop.signal)).rejects.toThrow("no signals here");
    expect(manager.status().state).toBe("stopped");
    expect([clock.waiters(), abortListeners(stop.signal), offs]).toEqual([
      0,
      0,
      ["SIGINT", "SIGTERM"],
    ]);
  });

  it("a second signal during the callback of the first is the same wish", async () => {
    const listeners = new Map<string, () => void>();
    const exits: number[] = [];
    const signals = {
      on: (name: string, listener: () => void) => listeners.set(name, listener),
      off: (name: string) => listeners.delete(name),
      exit: (code: number) => exits.push(code),
    };
    const manager = new Manager({ signals, logger: silentLogger });
    manager.add({
      name: "again",
      run: (signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            listeners.get("SIGTERM")?.();
            resolve();
          });
        }),
    });
    const running = manager.run();
    listeners.get("SIGINT")?.();
    await running;
    expect(exits).toEqual([]);
  });
});
