import { EventEmitter, on } from "node:events";
import { onAbort } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  type ControllerOptions,
  filterSource,
  fromCallback,
  fromIterable,
  fromObservable,
  mapSource,
  RetryAfterError,
  resync,
  type Source,
  type SourceContext,
  silentLogger,
} from "@holdfast/controller";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";

/** A controller of these sources that runs, and what it looks at and is told. */
function feed(sources: readonly Source[]) {
  const clock = new FakeClock();
  const stop = new AbortController();
  const start = clock.monotonic();
  const seen: unknown[][] = [];
  const errors: unknown[][] = [];
  const controller = new Controller({
    name: "fed",
    logger: silentLogger,
    clock,
    sources,
    workers: 4,
    random: () => 0,
    reconcile: ({ key, reason }) => void seen.push([clock.monotonic() - start, key, reason]),
    onError: (error, origin) => void errors.push([`${error}`, origin]),
  });
  const running = controller.run(stop.signal);
  const state = () => controller.status().sources.map((source) => source.state);
  const end = async (): Promise<void> => {
    stop.abort("enough");
    await clock.step(0);
    await running;
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  };
  return { clock, controller, seen, errors, state, end };
}

const fail = (message: string): never => {
  throw new Error(message);
};

describe("a source of a callback", () => {
  it("enqueues until the end, then unsubscribes", async () => {
    const emitter = new EventEmitter();
    const { clock, seen, state, end } = feed([
      fromCallback<string>("orders", (enqueue) => {
        const changed = (id: string): void => enqueue(id);
        emitter.on("changed", changed);
        return () => emitter.off("changed", changed);
      }),
    ]);
    emitter.emit("changed", "7");
    emitter.emit("changed", "7");
    await clock.step(1);
    expect([seen, state()]).toEqual([[[0, "7", "orders"]], ["running"]]);
    await end();
    expect([emitter.listenerCount("changed"), state()]).toEqual([0, ["ended"]]);
  });

  it("calls the returned function at once when it ends", async () => {
    const emitter = new EventEmitter();
    const { end } = feed([
      fromCallback<string>("orders", (enqueue) => {
        emitter.on("changed", enqueue);
        return () => emitter.off("changed", enqueue);
      }),
    ]);
    const ended = end();
    expect(emitter.listenerCount("changed")).toBe(0);
    await ended;
  });

  it("needs no unsubscribe function, and survives one that throws", async () => {
    const { errors, end } = feed([
      fromCallback("quiet", () => undefined),
      fromCallback("loud", () => () => fail("loud")),
    ]);
    await end();
    expect(errors).toEqual([["Error: loud", { kind: "source", name: "loud" }]]);
  });

  it("is restarted with a backoff while it fails", async () => {
    let starts = 0;
    const { clock, controller, errors, state, end } = feed([
      fromCallback("flaky", () => {
        if (++starts < 4) fail(`start ${starts}`);
      }),
    ]);
    await clock.step(999);
    expect([starts, state()]).toEqual([1, ["backing-off"]]);
    await clock.step(1 + 2_000 + 4_000);
    expect([starts, state()]).toEqual([4, ["running"]]);
    expect(errors.map(([message]) => message)).toEqual(
      [1, 2, 3].map((start) => `Error: start ${start}`),
    );
    expect(controller.status().sources).toMatchObject([
      { name: "flaky", restarts: 3, lastError: { message: "start 3" } },
    ]);
    await end();
  });

  it("is restarted if it fails later, and its error is reported once", async () => {
    let starts = 0;
    const { clock, errors, state, end } = feed([
      fromCallback("flaky", async () => {
        if (++starts < 2) fail("no connection");
      }),
    ]);
    await clock.step(999);
    expect([starts, state()]).toEqual([1, ["backing-off"]]);
    await clock.step(1);
    expect([starts, state()]).toEqual([2, ["running"]]);
    await end();
    expect(errors).toEqual([["Error: no connection", { kind: "source", name: "flaky" }]]);
  });

  it("calls the function that a promise resolved to at the end, and reports its rejection", async () => {
    const { clock, errors, state, end } = feed([
      fromCallback("late", async () => async () => fail("cannot close")),
    ]);
    await clock.step(1);
    expect([state(), errors]).toEqual([["running"], []]);
    await end();
    expect(errors).toEqual([["Error: cannot close", { kind: "source", name: "late" }]]);
  });

  it("unsubscribes when a pending subscription resolves after the stop", async () => {
    let connect = (): void => {};
    const connected = new Promise<void>((resolve) => {
      connect = resolve;
    });
    let unsubscribed = 0;
    const { clock, errors, end } = feed([
      fromCallback("slow", async () => {
        await connected;
        return () => unsubscribed++;
      }),
      fromCallback("broken", async () => {
        await connected;
        fail("broken");
      }),
    ]);
    await clock.step(1);
    await end();
    expect([unsubscribed, errors]).toEqual([0, []]);
    connect();
    await clock.step(0);
    // The controller has stopped: the error of a source has no receiver any more.
    expect([unsubscribed, errors]).toEqual([1, []]);
  });

  it("stops while it backs off", async () => {
    const { clock, state, end } = feed([fromCallback("broken", () => fail("broken"))]);
    await clock.step(10);
    await end();
    expect(state()).toEqual(["ended"]);
  });

  it("passes delay, priority and reason on, and reports an invalid item as an error", async () => {
    const { clock, seen, errors, end } = feed([
      fromCallback("several", (enqueue) => {
        enqueue("later", { after: 5 });
        enqueue("low", { priority: -1, reason: "why" });
        enqueue("high");
        enqueue(7 as never);
      }),
    ]);
    await clock.step(10);
    expect(seen).toEqual([
      [0, "high", "several"],
      [0, "low", "why"],
      [5, "later", "several"],
    ]);
    expect(errors).toEqual([
      [
        "TypeError: the key of an item must be a string, got 7",
        { kind: "source", name: "several" },
      ],
    ]);
    await end();
  });
});

describe("a source of an iterable", () => {
  it("enqueues until the iteration ends", async () => {
    const { clock, seen, state, end } = feed([
      fromIterable("pair", async function* () {
        yield* ["a", "b"];
      }),
    ]);
    await clock.step(10_000);
    expect([seen.map(([, key]) => key), state()]).toEqual([["a", "b"], ["ended"]]);
    await end();
  });

  it("is reopened when it breaks", async () => {
    let opened = 0;
    const { clock, seen, errors, end } = feed([
      fromIterable("stream", async function* () {
        yield `${++opened}`;
        throw new Error("broke");
      }),
    ]);
    await clock.step(3_000);
    expect(seen.map(([at, key]) => [at, key])).toEqual([
      [0, "1"],
      [1_000, "2"],
      [3_000, "3"],
    ]);
    expect(errors).toHaveLength(3);
    await end();
  });

  it("ends while it waits, and calls return without waiting for it", async () => {
    let returned = 0;
    const iterator = {
      next: () => new Promise<never>(() => {}),
      return: () => {
        returned++;
        return Promise.reject(new Error("cannot close"));
      },
    };
    const { clock, errors, end } = feed([
      fromIterable("silent", () => ({ [Symbol.asyncIterator]: () => iterator })),
    ]);
    await clock.step(1);
    await end();
    expect([returned, errors]).toEqual([
      1,
      [["Error: cannot close", { kind: "source", name: "silent" }]],
    ]);
  });

  it("that fails after the abort reports its error, unless it is the abort", async () => {
    const { clock, errors, end } = feed([
      fromIterable("rude", async function* (signal) {
        await new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(new Error("rude")));
        });
        yield "never";
      }),
      fromIterable("polite", async function* (signal) {
        await new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        });
        yield "never";
      }),
    ]);
    await clock.step(1);
    await end();
    expect(errors).toEqual([["Error: rude", { kind: "source", name: "rude" }]]);
  });

  it("ends without an error if a Node function wraps the abort in its own", async () => {
    const orders = new EventEmitter();
    const { clock, seen, errors, end } = feed([
      fromIterable<string>("orders", async function* (signal) {
        for await (const [id] of on(orders, "changed", { signal })) yield id;
      }),
    ]);
    await clock.step(1);
    orders.emit("changed", "7");
    await clock.step(1);
    await end();
    expect([seen, errors]).toEqual([[[1, "7", "orders"]], []]);
  });
});

describe("a source of an observable", () => {
  function subject() {
    const observers = new Set<{
      next(key: string): void;
      error(error: unknown): void;
      complete(): void;
    }>();
    return {
      observers,
      subscribe(observer: {
        next(key: string): void;
        error(error: unknown): void;
        complete(): void;
      }) {
        observers.add(observer);
        return { unsubscribe: () => void observers.delete(observer) };
      },
    };
  }

  it("enqueues, is subscribed to again after an error, and ends when it completes", async () => {
    const changes = subject();
    const { clock, seen, errors, state, end } = feed([fromObservable("changes", changes)]);
    const tell = (act: (observer: { next(key: string): void } & Record<string, never>) => void) => {
      for (const observer of [...changes.observers]) act(observer as never);
    };
    tell((observer) => observer.next("a"));
    await clock.step(0);
    for (const observer of [...changes.observers]) observer.error(new Error("lost"));
    await clock.step(0);
    expect([changes.observers.size, state()]).toEqual([0, ["backing-off"]]);
    await clock.step(1_000);
    tell((observer) => observer.next("b"));
    await clock.step(0);
    for (const observer of [...changes.observers]) observer.complete();
    await clock.step(0);
    expect(seen.map(([at, key]) => [at, key])).toEqual([
      [0, "a"],
      [1_000, "b"],
    ]);
    expect([changes.observers.size, errors.length, state()]).toEqual([0, 1, ["ended"]]);
    await end();
  });

  it("is unsubscribed at the end, even if that throws", async () => {
    const changes = subject();
    const { errors, end } = feed([
      fromObservable("changes", changes),
      fromObservable("hostile", { subscribe: () => ({ unsubscribe: () => fail("hostile") }) }),
    ]);
    await end();
    expect([changes.observers.size, errors.length]).toEqual([0, 1]);
  });
});

describe("a resync", () => {
  it("lists at the start and each interval; a list that fails is an error, not the end", async () => {
    let lists = 0;
    const { clock, seen, errors, end } = feed([
      resync({
        interval: 100,
        list: () => (++lists === 2 ? fail("no list") : Promise.resolve(["a", "b"])),
      }),
    ]);
    await clock.step(250);
    expect(seen.map(([at, key]) => `${at} ${key}`)).toEqual(["0 a", "0 b", "200 a", "200 b"]);
    expect(errors).toEqual([["Error: no list", { kind: "source", name: "resync" }]]);
    await end();
  });

  it.each<{ name: string; interval: number; error: () => Error; want: readonly number[] }>([
    {
      name: "with growing delays",
      interval: 3_600,
      error: () => new Error("no list"),
      want: [0, 1, 3, 7, 15, 31, 61, 91, 3_691],
    },
    {
      name: "after its interval, if that is shorter",
      interval: 5,
      error: () => new Error("no list"),
      want: [0, 1, 3, 7, 12, 17, 22, 27, 32],
    },
    {
      name: "after the longer delay that an error names",
      interval: 3_600,
      error: () => new RetryAfterError(10_000),
      want: [0, 10, 20, 30, 40, 56, 86, 116, 3_716],
    },
    {
      name: "after its interval, if an error forbids it",
      interval: 40,
      error: () => new RetryAfterError(Number.POSITIVE_INFINITY),
      want: [0, 40, 80, 120, 160, 200, 240, 280, 320],
    },
  ])("whose lists fail tries again $name", async ({ interval, error, want }) => {
    const lists: number[] = [];
    const { clock, end } = feed([
      resync({
        interval: interval * 1_000,
        async list() {
          await undefined; // the controller runs already when it is made
          lists.push((clock.monotonic() - start) / 1_000);
          if (lists.length < 8) throw error();
          return [];
        },
      }),
    ]);
    const start = clock.monotonic();
    await clock.step(3_716_000);
    expect(lists.slice(0, want.length)).toEqual(want);
    await end();
  });

  it.each<{ what: string; error: (signal: AbortSignal) => unknown; told: readonly string[] }>([
    { what: "the reason", error: ({ reason }) => reason, told: [] },
    {
      what: "an AbortError, as of Node's own functions",
      error: () => new DOMException("aborted", "AbortError"),
      told: [],
    },
    { what: "another error", error: () => new Error("rude"), told: ["Error: rude"] },
  ])("whose list ends with $what when it is aborted", async ({ error, told }) => {
    const { clock, errors, end } = feed([
      resync({
        interval: 100,
        list: (signal) =>
          new Promise<never>((_, reject) => {
            signal.addEventListener("abort", () => reject(error(signal)));
          }),
      }),
    ]);
    await clock.step(1);
    await end();
    await clock.step(0);
    expect(errors.map(([message]) => message)).toEqual(told);
  });

  it("stops in the middle of a list", async () => {
    let listed = 0;
    const { clock, end } = feed([
      resync({
        interval: 100,
        async *list() {
          for (;;) {
            listed++;
            yield "a";
            await new Promise((resolve) => setImmediate(resolve));
          }
        },
      }),
    ]);
    await clock.step(0);
    const stopping = end().catch(() => undefined);
    await stopping;
    const atEnd = listed;
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect(listed).toBeLessThanOrEqual(atEnd + 1);
  });
});

describe("filterSource and mapSource", () => {
  const words = fromIterable("words", async function* () {
    yield* ["a", "bb", "ccc"];
  });

  it("pass wanted events, and the keys derived from them", async () => {
    const longer = filterSource(words, (word) => word.length > 1);
    const { clock, seen, end } = feed([mapSource(longer, (word) => [`${word}.1`, `${word}.2`])]);
    await clock.step(0);
    expect(seen.map(([, key, reason]) => `${key} ${reason}`)).toEqual([
      "bb.1 words",
      "bb.2 words",
      "ccc.1 words",
      "ccc.2 words",
    ]);
    await end();
  });

  it("loses only the event it throws for", async () => {
    const picky = filterSource(words, (word) => word !== "a" || fail("picky"));
    const { clock, seen, errors, end } = feed([
      picky,
      mapSource(words, (word) => (word === "bb" ? fail("clumsy") : [`x${word}`])),
    ]);
    await clock.step(0);
    expect(seen.map(([, key]) => key).sort()).toEqual(["bb", "ccc", "xa", "xccc"]);
    expect(errors.map(([message]) => message).sort()).toEqual(["Error: clumsy", "Error: picky"]);
    await end();
  });
});

describe("a source whose start returns nothing", () => {
  const plain: Source = {
    name: "plain",
    start: ({ enqueue }) => enqueue("a"),
  };

  it("runs until its controller stops", async () => {
    const { clock, seen, state, end } = feed([plain]);
    await clock.step(60_000);
    expect([seen, state()]).toEqual([[[0, "a", "plain"]], ["running"]]);
    await end();
    expect(state()).toEqual(["ended"]);
  });
});

it("reports the rejection of a source that was aborted", async () => {
  const clumsy: Source = {
    name: "clumsy",
    start: (_, signal) => new Promise((_resolve, reject) => onAbort(signal, () => reject("late"))),
  };
  const { errors, state, end } = feed([clumsy]);
  await end();
  expect([errors, state()]).toEqual([[["late", { kind: "source", name: "clumsy" }]], ["ended"]]);
});

it("enqueues nothing after its end, nor for a start that is over", async () => {
  const contexts: SourceContext<string>[] = [];
  const start = async (context: SourceContext<string>): Promise<void> => {
    contexts.push(context);
    if (contexts.length === 1) throw new Error("broken");
    context.enqueue("in time");
  };
  const { clock, controller, seen, state, end } = feed([{ name: "short", start }]);
  await clock.step(500);
  contexts[0]?.enqueue("backing off");
  await clock.step(1_000);
  expect(state()).toEqual(["ended"]);
  for (const context of contexts) context.enqueue("late");
  await clock.step(0);
  await end();
  contexts[1]?.enqueue("stopped", { after: 5 });
  expect([seen, controller.status().drain?.delayed]).toEqual([[[1_000, "in time", "short"]], []]);
});

it("reports the first event of a source whose start resolved too early, while the controller runs", async () => {
  let emit: (event: string) => void = () => {};
  const start = async ({ enqueue }: SourceContext<string>): Promise<void> => {
    emit = enqueue;
  };
  const { clock, errors, seen, end } = feed([{ name: "hasty", start }]);
  await clock.step(1);
  emit("a");
  emit("b");
  await end();
  emit("c");
  const message = expect.stringMatching(/^Error: event ignored.*promise that lasts as long/);
  expect([errors, seen]).toEqual([[[message, { kind: "source", name: "hasty" }]], []]);
});

describe("a source that does not stop", () => {
  it("is reported as running after grace and abortGrace", async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const deaf: Source = { name: "deaf", start: () => new Promise(() => {}) };
    const controller = new Controller({
      name: "fed",
      logger: silentLogger,
      clock,
      sources: [deaf],
      grace: 100,
      abortGrace: 50,
      reconcile: () => undefined,
    });
    const running = controller.run(stop.signal);
    stop.abort();
    await clock.step(149);
    expect(controller.status().state).toBe("stopping");
    await clock.step(1);
    await running;
    expect(controller.status()).toMatchObject({
      state: "stopped",
      sources: [{ name: "deaf", state: "stopping" }],
    });
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  });
});

describe("bad input", () => {
  it.each<[string, () => unknown, string]>([
    ["subscribe", () => fromCallback("x", 1 as never), "subscribe must be a function"],
    ["open", () => fromIterable("x", 1 as never), "open must be a function"],
    ["observable", () => fromObservable("x", {} as never), "must have a method subscribe()"],
    ["isWanted", () => filterSource({} as never, 1 as never), "isWanted must be a function"],
    ["targetsOf", () => mapSource({} as never, 1 as never), "targetsOf must be a function"],
    ["list", () => resync({ interval: 1 } as never), "options.list must be a function"],
    [
      "interval",
      () => resync({ list: () => [], interval: 0 }),
      "options.interval must be a number",
    ],
    [
      "priority",
      () => resync({ list: () => [], interval: 1, priority: Number.NaN }),
      "options.priority must be a finite number",
    ],
    [
      "jitter below 0",
      () => resync({ list: () => [], interval: 1, jitter: -1 }),
      "options.jitter must be a finite number of at least 0, got -1",
    ],
    [
      "jitter that is not a number",
      () => resync({ list: () => [], interval: 1, jitter: "x" as never }),
      'options.jitter must be a finite number of at least 0, got "x"',
    ],
    [
      "random",
      () => resync({ list: () => [], interval: 1, random: 5 as never }),
      "options.random must be a function, got 5",
    ],
    ["options", () => resync(undefined as never), "options must be an object"],
  ])("is refused: %s", (_name, make, message) => {
    expect(make).toThrow(message);
  });
});

describe("the log of a source", () => {
  function logging(source: Source, options: Partial<ControllerOptions> = {}) {
    const clock = new FakeClock();
    const stop = new AbortController();
    const logged: string[] = [];
    const errors: string[] = [];
    const controller = new Controller({
      name: "fed",
      clock,
      sources: [source],
      logger: { ...silentLogger, error: (_, message) => logged.push(message) },
      reconcile: () => {},
      onError: (error) => void errors.push(`${error}`),
      ...options,
    });
    const running = controller.run(stop.signal);
    const end = async (): Promise<void> => {
      stop.abort();
      await clock.step(10_000);
      await running;
    };
    return { clock, stop, running, logged, errors, controller, end };
  }
  /** A source that lasts until the end, and its context. */
  function held() {
    const given: { context?: SourceContext<string> } = {};
    const start: Source["start"] = (context, signal) => {
      given.context = context;
      return new Promise<void>((resolve) => void onAbort(signal, () => resolve()));
    };
    return { given, source: { name: "held", start } };
  }

  it("says that a failed source restarts", async () => {
    const { clock, logged, end } = logging(fromCallback("broken", () => fail("broken")));
    await clock.step(1);
    expect(logged).toEqual(["source failed; restarting after a delay"]);
    await end();
  });

  it("says of a reported error and a rejected event that they are that", async () => {
    const { given, source } = held();
    const { clock, logged, errors, end } = logging(source);
    await clock.step(1);
    given.context?.failed(new Error("list failed"));
    given.context?.enqueue(7 as never);
    expect(logged).toEqual(["source reported an error", "event of a source rejected"]);
    expect(errors).toHaveLength(2);
    await end();
  });

  it("ends with the controller, and so do calls of onError", async () => {
    const { given, source } = held();
    const { clock, logged, errors, end } = logging(source);
    await clock.step(1);
    await end();
    given.context?.failed(new Error("late"));
    given.context?.enqueue("late");
    expect([logged, errors]).toEqual([[], []]);
  });

  it("does not blame a source for an event after the stop, while a key is finished", async () => {
    const { given, source } = held();
    const world = logging(source, { reconcile: () => world.clock.sleep(5_000) });
    const { clock, stop, running, logged, errors } = world;
    await clock.step(1);
    given.context?.enqueue("a");
    await clock.step(1);
    stop.abort();
    given.context?.enqueue("late");
    await clock.run(() => running);
    expect([logged, errors]).toEqual([[], []]);
  });

  it.each([
    [1, 1_200],
    [0.5, 1_100],
  ])("restarts with the jitter of a random number of %d after %d ms", async (drawn, delay) => {
    const starts: number[] = [];
    const broken: Source = {
      name: "broken",
      start({ clock }) {
        starts.push(clock.monotonic());
        throw new Error("broken");
      },
    };
    const { clock, logged, end } = logging(broken, { random: () => drawn });
    await clock.step(3_000);
    expect((starts[1] ?? 0) - (starts[0] ?? 0)).toBe(delay);
    expect(new Set(logged)).toEqual(new Set(["source failed; restarting after a delay"]));
    await end();
  });

  it("a source that fails while it stops is not backing off", async () => {
    const failing: Source = {
      name: "failing",
      start: async (_, signal) => {
        await new Promise<void>((resolve) => {
          onAbort(signal, () => resolve());
        });
        fail("cannot close");
      },
    };
    const { clock, logged, controller, end } = logging(failing);
    await clock.step(1);
    await end();
    expect(logged).toEqual(["source failed while stopping"]);
    expect(controller.status().sources[0]?.state).toBe("ended");
  });
});

describe("a source with ready", () => {
  /** A source that enqueues its name at its start, and is ready after a time. */
  const late = (name: string, wait: (signal: AbortSignal) => Promise<void>): Source => ({
    name,
    ready: wait,
    start: ({ enqueue }) => enqueue(name),
  });

  it("holds up all sources and keys of its controller until all are ready", async () => {
    const clock = new FakeClock();
    let hasSynced = (): void => {};
    const synced = new Promise<void>((resolve) => {
      hasSynced = resolve;
    });
    const fed = feed([
      late("slow", () => synced),
      filterSource(
        late("fast", async () => {}),
        () => true,
      ),
      fromCallback("plain", (enqueue) => enqueue("plain")),
    ]);
    fed.controller.add("added");
    await fed.clock.step(60_000);
    expect([fed.seen, fed.state()]).toEqual([[], ["waiting", "idle", "idle"]]);
    hasSynced();
    await fed.clock.step(0);
    const keys = fed.seen.map(([at, key]) => `${at} ${key}`);
    expect(keys).toEqual(["60000 added", "60000 plain", "60000 fast", "60000 slow"]);
    expect(fed.state()).toEqual(["running", "running", "running"]);
    await fed.end();
    expect(clock.waiters()).toBe(0);
  });

  it("is asked again after a backoff when it fails, and once only when it is ready", async () => {
    let asked = 0;
    const { clock, seen, errors, state, end } = feed([
      late("flaky", async () => {
        if (++asked < 3) fail(`ask ${asked}`);
      }),
    ]);
    await clock.step(999);
    expect([seen, state()]).toEqual([[], ["backing-off"]]);
    await clock.step(2_001 + 3_600_000);
    expect([asked, seen, state()]).toEqual([3, [[3_000, "flaky", "flaky"]], ["running"]]);
    expect(errors.map(([message]) => message)).toEqual(["Error: ask 1", "Error: ask 2"]);
    await end();
  });

  it("that never becomes ready does not delay a stop, and no key begins", async () => {
    const never = (signal: AbortSignal): Promise<void> =>
      new Promise((_resolve, reject) => onAbort(signal, reject));
    const { clock, controller, seen, errors, state, end } = feed([late("never", never)]);
    controller.add("added");
    await clock.step(1_000);
    await end();
    expect([seen, errors, state()]).toEqual([[], [], ["ended"]]);
    expect(controller.status().drain?.queued).toEqual(["added"]);
  });

  it("has a function as ready", () => {
    const source = { name: "a", start: () => {}, ready: true } as never;
    const make = (): unknown =>
      new Controller({ name: "a", sources: [source], reconcile: () => {} });
    expect(make).toThrow("options.sources[0].ready must be a function, got true");
  });
});
