import { EventEmitter } from "node:events";
import { FakeClock } from "@holdfast/clock/testing";
import {
  fromCallback,
  isLeadershipLostError,
  type Logger,
  type Runnable,
  silentLogger,
} from "@holdfast/controller";
import { type OperatorContext, type OperatorOptions, runOperator } from "@holdfast/kubernetes";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { JumpingClock } from "../../../../test/jumping-clock.ts";
import { ConfigMap, Greeting, Lease, OperatorWorld } from "./operator-world.ts";

let clock: FakeClock;
let world: OperatorWorld;

beforeEach(() => {
  clock = new FakeClock();
  world = new OperatorWorld(clock);
});

/** How long a new leader of a quiet cluster waits for its watches, before it lists. */
const BARRIER = 1_000;

const keysOf = (replica: string): string[] =>
  world.spans.filter((span) => span.replica === replica).map(({ key }) => key);

describe("runOperator", () => {
  it("syncs, leads and reconciles, with the server's seconds as its token", async () => {
    await world.greet("ann");
    world.start("a");
    await clock.step(10_000);
    expect(world.spans).toMatchObject([
      { replica: "a", key: "default/ann", name: "ann", token: 946_684_800, from: BARRIER },
    ]);
    await world.greet("bob");
    await clock.step(1_000);
    expect(keysOf("a")).toEqual(["default/ann", "default/bob"]);
    expect(await world.client.get(Lease, "greeter/greeter")).toMatchObject({
      spec: { holderIdentity: "a", leaseDurationSeconds: 15 },
    });
    await world.end();
  });

  it("has a controller whose reconcile adds the source of an informer that begins later", async () => {
    const seen: string[] = [];
    const left = new AbortController();
    await world.greet("ann");
    const metadata = { name: "settings", namespace: "default" };
    await world.client.create(ConfigMap, { metadata });
    world.start("a", {
      setup: ({ cluster, controller }) => {
        const greetings = cluster.watch(Greeting);
        return () => {
          let isFirst = true;
          const work = controller({
            name: "late",
            sources: [greetings.source()],
            reconcile({ key, reason }) {
              seen.push(`${reason} ${key}`);
              if (isFirst) work.addSource(cluster.watch(ConfigMap).source(), left.signal);
              isFirst = false;
            },
          });
          return [work];
        };
      },
    });
    await clock.step(10_000);
    expect(seen.splice(0)).toEqual([
      "greetings.example.org default/ann",
      "configmaps default/settings",
    ]);
    await world.client.patch(ConfigMap, metadata, { metadata: { labels: { a: "1" } } });
    await clock.step(1_000);
    expect(seen.splice(0)).toEqual(["configmaps default/settings"]);
    left.abort();
    await world.client.patch(ConfigMap, metadata, { metadata: { labels: { a: "2" } } });
    await clock.step(1_000);
    expect(seen).toEqual([]);
    await world.end();
    expect(abortListeners(left.signal)).toBe(0);
  });

  it("works without an election, under token 0", async () => {
    await world.greet("ann");
    world.start("a", { leaderElection: false });
    await clock.step(1_000);
    expect(world.spans).toMatchObject([{ key: "default/ann", token: 0 }]);
    expect(await world.client.find(Lease, "greeter/greeter")).toBeUndefined();
    await world.end();
  });

  it("calls setup once with all parts of an operator, and starts work once per term", async () => {
    const contexts: OperatorContext[] = [];
    const tokens: number[] = [];
    const replica = world.start("a", {
      setup: async (context) => {
        contexts.push(context);
        await clock.sleep(10);
        return ({ token }) => {
          tokens.push(token);
          return [];
        };
      },
    });
    await clock.step(5_000);
    replica.transport.hangs = () => true;
    await clock.step(20_000);
    replica.transport.hangs = () => false;
    await clock.step(40_000);
    expect(contexts).toHaveLength(1);
    expect(Object.keys(contexts[0] as object).sort()).toEqual([
      ...["client", "clock", "cluster", "controller", "events", "identity", "link"],
      ...["logger", "metrics", "random"],
    ]);
    expect(contexts[0]?.identity).toBe("a");
    expect(contexts[0]?.client).toBe(contexts[0]?.cluster.client);
    expect(tokens).toEqual([946_684_800, 946_684_805]);
    await world.end();
  });

  it("gives its controllers its clock, its logger, its random source and its metrics", async () => {
    const starts: number[] = [];
    const measured: string[] = [];
    const metricsOf = (kind: string) => (name: string) => {
      measured.push(`${kind} ${name}`);
      return undefined as never;
    };
    const ignore = (): void => {};
    const replica = world.start("a", {
      leaderElection: false,
      random: () => 0.5,
      metrics: {
        requested: ignore,
        listed: ignore,
        watchEnded: ignore,
        rejected: ignore,
        applySkipped: ignore,
        leadership: ignore,
        shards: ignore,
        informers: ignore,
        controller: metricsOf("controller"),
        queue: metricsOf("queue"),
      },
      setup: ({ controller }) => {
        const source = fromCallback<number>("numbers", () => {
          starts.push(world.now);
          throw new Error("no numbers");
        });
        const numbers = controller<number>({
          name: "numbers",
          sources: [source],
          keyOf: (item) => String(item),
          reconcile: ({ item }) => void item.toFixed(),
        });
        return () => [numbers];
      },
    });
    await clock.step(10_000);
    expect(measured).toEqual(["controller numbers", "queue numbers"]);
    expect(starts).toEqual([0, 1_100, 3_300, 7_700]); // doubled from 1 s, with 20 % jitter
    const lines = world.lines.map(([, line]) => line);
    expect(lines).toContain("a: source failed; restarting after a delay");
    expect(replica.isEnded).toBe(false);
    await world.end();
  });

  it.each<[unknown, string]>([
    [undefined, "options must be an object"],
    [{ name: "" }, "options.name must be a non-empty string"],
    [{ name: "a", reconcile: 5 }, "options.reconcile must be a function, got 5"],
  ])("rejects a controller with the options %o", async (options, message) => {
    const replica = world.start("a", {
      setup: ({ controller }) => controller(options as never) as never,
    });
    await expect(replica.running).rejects.toThrow(message);
    await world.end();
  });

  it("sends no write of a leader whose process stood still beyond its lease", async () => {
    const jumping = new JumpingClock(clock);
    let resume = (): void => {};
    let outcome: unknown;
    const replica = world.start("a", {
      clock: jumping,
      setup: ({ client, controller }) => {
        const write = (name: string) =>
          client.create(ConfigMap, { metadata: { namespace: "default", name } });
        const reconcile = async (): Promise<void> => {
          await new Promise<void>((resolve) => {
            resume = resolve;
          });
          outcome = await write("late").catch((error: unknown) => error);
        };
        return () => {
          const writer = controller({ name: "writer", reconcile });
          writer.add("a");
          return [writer];
        };
      },
    });
    await clock.step(BARRIER + 1_000);
    jumping.standStill(10_000); // the renew deadline; no timer has fired
    resume();
    for (let microtasks = 0; microtasks < 50; microtasks++) await undefined;
    expect(isLeadershipLostError(outcome)).toBe(true);
    expect(world.api.requests.filter(({ path }) => path.includes("/configmaps"))).toEqual([]);
    expect(replica.isEnded).toBe(false);
    await world.end();
  });

  describe("a reconcile that outlives its term", () => {
    /** A reconcile that ignores its abort. It writes after `resume()`, and so does the setup. */
    function outliving() {
      const made: unknown[] = [];
      const reconciles: (() => void)[] = [];
      const replica = world.start("a", {
        setup: async ({ client, controller }) => {
          const write = async (name: string): Promise<void> => {
            const map = client.create(ConfigMap, { metadata: { namespace: "default", name } });
            const result = map.then(() => name);
            made.push(await result.catch((error: unknown) => error));
          };
          await write("setup");
          const reconcile = async (): Promise<void> => {
            await new Promise<void>((resolve) => reconciles.push(resolve));
            await write("late");
          };
          return () => {
            const writer = controller({ name: "writer", reconcile });
            writer.add("a");
            return [writer];
          };
        },
      });
      const resume = async (): Promise<void> => {
        reconciles[0]?.();
        await clock.step(0);
      };
      return { replica, made, resume };
    }

    it("sends no write after the lease was lost; the setup has sent its own", async () => {
      const { replica, made, resume } = outliving();
      await clock.step(BARRIER + 1_000);
      replica.transport.hangs = ({ path }) => path.includes("/leases");
      await clock.step(60_000);
      await resume();
      expect(made).toEqual(["setup", expect.objectContaining({ loss: "expired" })]);
      replica.transport.hangs = () => false;
      await world.end();
    });

    it("sends no write after a stop", async () => {
      const { replica, made, resume } = outliving();
      await clock.step(BARRIER + 1_000);
      replica.stop.abort("stop");
      await clock.step(60_000);
      await resume();
      expect(made).toEqual(["setup", "stop"]);
      await world.end();
    });
  });

  it("does not reconcile before every informer that a controller reads has synced", async () => {
    await world.greet("ann");
    const replica = world.start("a", {
      leaderElection: false,
      setup: ({ cluster, controller }) => {
        const sources = [
          cluster.watch(Greeting).source(),
          cluster.watch(ConfigMap).source({ to: () => [] }),
        ];
        const reconcile = ({ key }: { key: string }): void =>
          void world.spans.push({ replica: "a", key } as never);
        return () => [controller({ name: "greeter", sources, reconcile })];
      },
    });
    replica.transport.hangs = ({ path }) => path.includes("/configmaps");
    await clock.step(600_000);
    expect([world.spans, replica.isEnded]).toEqual([[], false]);
    replica.transport.hangs = () => false;
    await clock.step(120_000);
    expect(keysOf("a")).toEqual(["default/ann"]);
    await world.end();
  });

  it("stops in order at SIGTERM: work, lease, Events, caches", async () => {
    await world.greet("ann");
    const signals = Object.assign(new EventEmitter(), { exit: () => {} });
    const replica = world.start("a", {
      signals: signals as never,
      setup: ({ cluster, controller, events }) => {
        const greetings = cluster.watch(Greeting);
        return () => [
          controller({
            name: "greeter",
            sources: [greetings.source()],
            async reconcile({ key }) {
              const greeting = greetings.list()[0] as never;
              events.record(greeting, { reason: "Done", action: "Greet", note: key });
              await clock.sleep(4_000);
              events.record(greeting, { reason: "Done", action: "Greet", note: key });
            },
          }),
        ];
      },
    });
    await clock.step(BARRIER + 1_000);
    signals.emit("SIGTERM");
    await clock.step(10_000);
    const stops = world.lines
      .filter(([, line]) => /group stopped|lease released|controller stopped$/.test(line))
      .map(([at, line]) => `${at} ${line.replace("a: ", "")}`);
    expect(stops).toEqual([
      "5000 controller stopped",
      "5000 group stopped", // of the term
      "5000 lease released",
      "5000 group stopped", // work
      "5000 controller stopped", // the writer of Events
      "5000 group stopped", // events
      "5000 group stopped", // caches
      "5000 group stopped", // servers
    ]);
    // The repetition would have waited for its interval.
    const last = world.api.requests.slice(-2).map(({ verb, path }) => [verb, path.split("/")[6]]);
    expect(last).toEqual([
      ["update", "leases"],
      ["patch", "events"],
    ]);
    expect([replica.error, signals.listenerCount("SIGTERM")]).toEqual([undefined, 0]);
    await world.end();
  });

  it("logs once that it runs, stops and has stopped, also with a leader", async () => {
    const lines: string[] = [];
    const info: Logger["info"] = (_, message) => void lines.push(message);
    const replica = world.start("a", { logger: { ...silentLogger, info } });
    await clock.step(BARRIER + 1_000);
    replica.stop.abort("stop");
    await clock.step(1_000);
    expect(lines.filter((line) => line.startsWith("manager"))).toEqual([
      "manager running: every runnable is ready",
      "manager stopping",
      "manager stopped",
    ]);
    await world.end();
  });

  it.each([
    [true, "for a terminal as text", "info"],
    [false, "for a collector as JSON", "log"],
  ] as const)("logs without a logger, stdout a terminal: %s, %s", async (isTTY, _, method) => {
    const terminal = Object.getOwnPropertyDescriptor(process.stdout, "isTTY");
    Object.defineProperty(process.stdout, "isTTY", { value: isTTY, configurable: true });
    const debug = vi.spyOn(console, "debug");
    const print = vi.spyOn(console, method).mockReturnValue();
    world.start("a", { logger: undefined });
    await clock.step(BARRIER + 1_000);
    await world.end();
    const lines = print.mock.calls.map(([line]) => String(line));
    const messages = isTTY
      ? lines
      : lines.map((line) => {
          const { level, msg } = JSON.parse(line) as { level: string; msg: string };
          expect(level).toBe("info");
          return msg;
        });
    expect(messages).toContain("manager running: every runnable is ready");
    expect(debug).not.toHaveBeenCalled();
    vi.restoreAllMocks();
    if (terminal === undefined) Reflect.deleteProperty(process.stdout, "isTTY");
    else Object.defineProperty(process.stdout, "isTTY", terminal);
  });

  it("ends with the error of a part, after the lease is released", async () => {
    const error = new Error("the disk is full");
    const part: Runnable = {
      name: "copier",
      run: async (signal) => {
        await clock.sleep(5_000, { signal });
        throw error;
      },
    };
    const ended: string[] = [];
    const other: Runnable = {
      name: "other",
      run: async (signal) => {
        await clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => {});
        ended.push("other");
      },
    };
    const replica = world.start("a", { setup: () => () => [part, other] });
    await clock.step(10_000);
    expect(replica.isEnded).toBe(true);
    expect(replica.error).toMatchObject({
      message: '"leader-elector" failed: "copier" failed: the disk is full',
      errors: [
        { cause: { message: '"copier" failed: the disk is full', errors: [{ cause: error }] } },
      ],
    });
    expect(ended).toEqual(["other"]);
    const { spec } = (await world.client.get(Lease, "greeter/greeter")) as never as {
      spec: object;
    };
    expect(spec).toMatchObject({ holderIdentity: "" });
    await world.end();
  });

  it.each<[string, object, string]>([
    ["no name", { name: "" }, "options.name must be a non-empty string"],
    [
      "a name that is not a label",
      { name: "My Op" },
      "options.name must be a namespace: at most 63",
    ],
    ["no transport", { transport: {} }, "options.transport must have a method send()"],
    ["no setup", { setup: 5 }, "options.setup must be a function, got 5"],
    [
      "no namespace",
      { transport: { send: () => {} } },
      "options.leaderElection.namespace must be set: options.transport has no namespace",
    ],
    [
      "a bad namespace",
      { leaderElection: { namespace: "a/b" } },
      "options.leaderElection.namespace must be a namespace",
    ],
    ["a bad election", { leaderElection: true }, "options.leaderElection must be an object"],
    [
      "a lease below its deadline",
      { leaderElection: { leaseDuration: 5_000 } },
      "options.leaderElection.leaseDuration must be above options.leaderElection.renewDeadline (10000), got 5000",
    ],
    [
      "slots whose lease is below its deadline",
      { shards: { leaseDuration: 5_000 }, leaderElection: false },
      "options.shards.leaseDuration must be above options.shards.renewDeadline (10000), got 5000",
    ],
    [
      "an endless lease",
      { leaderElection: { leaseDuration: Number.POSITIVE_INFINITY } },
      "options.leaderElection.leaseDuration must be",
    ],
    [
      "a retry period of 0",
      { leaderElection: { retryPeriod: 0 } },
      "options.leaderElection.retryPeriod must be",
    ],
    ["bad health", { health: 5 }, "options.health must be an object, got 5"],
    ["a bad port", { health: { port: -1 } }, "options.health.port must be"],
    ["a bad host", { health: { host: 5 } }, "options.health.host must be"],
    ["bad checks", { health: { live: 5 } }, "options.health.live must be"],
    [
      "a bad check",
      { health: { ready: { a: 5 } } },
      'options.health.ready["a"] must be a function',
    ],
    ["bad metrics of the server", { health: { metrics: 5 } }, "options.health.metrics must"],
    ["bad cluster options", { cluster: 5 }, "options.cluster must be an object, got 5"],
    ["a bad idle timeout", { cluster: { idleTimeout: 0 } }, "options.cluster.idleTimeout must be"],
    ["a bad page size", { cluster: { pageSize: 0.5 } }, "options.cluster.pageSize must be"],
    ["a bad relist", { cluster: { relistEvery: -1 } }, "options.cluster.relistEvery must be"],
    ["a bad backoff", { cluster: { backoff: {} } }, "options.cluster.backoff.duration must"],
    ["an empty identity", { identity: "" }, "options.identity must be a non-empty string"],
    ["no clock", { clock: {} }, "options.clock must have a method"],
    ["bad random", { random: 1 }, "options.random must be a function, got 1"],
    ["no logger", { logger: {} }, "options.logger must have a method"],
    ["bad metrics", { metrics: {} }, "options.metrics must have a method"],
    ["a setup without work", { setup: () => 5 }, "the result of options.setup must be a function"],
    [
      "a setup that throws",
      {
        setup: () => {
          throw new Error("no CRD");
        },
      },
      "no CRD",
    ],
  ])("rejects %s before it calls the setup", async (_name, options, message) => {
    let setups = 0;
    const setup = () => {
      setups++;
      return () => [];
    };
    const replica = world.start("a", { setup, ...options } as never);
    await expect(replica.running).rejects.toThrow(message);
    expect(setups).toBe(0);
    await world.end();
  });

  it("rejects a value that is not a signal", async () => {
    const options = { name: "a", transport: world.api.transport, setup: () => () => [] };
    const running = runOperator({ ...options, leaderElection: false }, 5 as never);
    await expect(running).rejects.toThrow("signal must be an AbortSignal, got 5");
  });

  it("rejects a value that is not work", async () => {
    for (const work of [5, [{ name: "x" }]]) {
      const setup = (): never => (() => work) as never;
      const replica = world.start("a", { setup, leaderElection: false });
      await clock.step(1_000);
      expect(JSON.stringify(messagesOf(replica.error))).toContain("the work of a term");
    }
    await world.end();
  });
});

/** Messages of an error and of all below it. */
function messagesOf(error: unknown): string[] {
  const { message, errors = [], cause } = error as AggregateError;
  return [message, ...[...errors, ...(cause === undefined ? [] : [cause])].flatMap(messagesOf)];
}

describe("replicas of an operator", () => {
  it("let one work: the next takes over at once after a stop", async () => {
    for (const name of ["ann", "bob", "cid"]) await world.greet(name);
    world.workTime = 700;
    const [a] = [world.start("a"), world.start("b"), world.start("c")];
    await clock.step(10_000);
    expect(keysOf("a")).toHaveLength(3);
    expect([keysOf("b"), keysOf("c")]).toEqual([[], []]);
    a?.stop.abort("stop");
    await clock.step(12_000);
    expect(a).toMatchObject({ isEnded: true, error: undefined });
    const [, [next, at] = []] = world.terms();
    expect([next, at]).toEqual(["b", 12_000 + BARRIER]);
    expect([keysOf("b").length, keysOf("c"), world.overlaps()]).toEqual([3, [], []]);
    await world.end();
  });

  it("take over from a dead one when its lease has expired, not before", async () => {
    await world.greet("ann");
    const a = world.start("a");
    world.start("b");
    await clock.step(5_000);
    // As after SIGKILL: no request arrives any more.
    a.transport.hangs = () => true;
    await clock.step(30_000);
    const [, [next, at] = []] = world.terms();
    // The last renewal was at 4 s; b asks every 2 s.
    expect([next, at]).toEqual(["b", 20_000 + BARRIER]);
    expect(world.spans.at(-1)?.token).toBe(946_684_805);
    await world.end();
  });

  it("lose the lease in the middle of work: it aborts before the next leader begins", async () => {
    await world.greet("ann");
    world.workTime = 60_000;
    const a = world.start("a");
    const b = world.start("b");
    await clock.step(5_500);
    a.transport.hangs = () => true;
    await clock.step(30_000);
    expect(world.spans[0]).toMatchObject({ replica: "a", to: 14_000 });
    expect(world.spans[1]).toMatchObject({ replica: "b", from: 20_000 + BARRIER });
    expect([a.isEnded, world.overlaps()]).toEqual([false, []]);
    a.transport.hangs = () => false;
    b.stop.abort("stop");
    world.workTime = 0;
    await clock.step(90_000);
    expect(world.terms().map(([replica]) => replica)).toEqual(["a", "b", "a"]);
    await world.end();
    expect([a.error, b.error, world.overlaps()]).toEqual([undefined, undefined, []]);
  });

  it("survive an API server that is unreachable for longer than the lease", async () => {
    await world.greet("ann");
    world.workTime = 60_000;
    const a = world.start("a");
    const b = world.start("b");
    await clock.step(5_500);
    world.api.stop();
    await clock.step(120_000);
    expect(world.spans).toMatchObject([{ replica: "a", to: 14_000 }]);
    await world.api.start({ history: "lost" });
    world.workTime = 100;
    await world.greet("bob");
    await clock.step(60_000);
    expect([a.isEnded, b.isEnded, world.overlaps()]).toEqual([false, false, []]);
    const after = world.spans.slice(1);
    expect(new Set(after.map(({ key }) => key))).toEqual(new Set(["default/ann", "default/bob"]));
    expect(new Set(after.map(({ replica }) => replica)).size).toBe(1);
    await world.end();
    expect([a.error, b.error]).toEqual([undefined, undefined]);
  });

  it("take over with warm caches, but not before these have the last writes of the leader", async () => {
    await world.greet("ann", "first");
    const a = world.start("a");
    const b = world.start("b");
    await clock.step(5_000);
    b.transport.isDeaf = true;
    await world.client.patch(Greeting, "default/ann", { spec: { name: "second" } });
    await clock.step(1_000);
    a.stop.abort("stop");
    await clock.step(30_000);
    const [first] = world.spans.filter(({ replica }) => replica === "b");
    // b leads at 8 s, waits for its watch, and lists.
    expect(first).toMatchObject({ name: "second", from: 8_000 + BARRIER });
    await world.end();
    expect(world.overlaps()).toEqual([]);
  });

  it("do not reconcile while the list of the barrier hangs", async () => {
    await world.greet("ann", "first");
    const a = world.start("a");
    const b = world.start("b");
    await clock.step(5_000);
    b.transport.isDeaf = true;
    b.transport.hangs = ({ path }) => /\/greetings(\?|$)/.test(path);
    await world.client.patch(Greeting, "default/ann", { spec: { name: "second" } });
    a.stop.abort("stop");
    await clock.step(60_000);
    expect(keysOf("b")).toEqual([]);
    expect(b.isEnded).toBe(false);
    b.transport.hangs = () => false;
    b.transport.isDeaf = false;
    await clock.step(120_000);
    expect(world.spans.at(-1)).toMatchObject({ replica: "b", name: "second" });
    await world.end();
  });

  it("keep the lease while work drains for longer than it", async () => {
    await world.greet("ann");
    world.workTime = 18_000;
    world.controller = { grace: 20_000 };
    const a = world.start("a");
    world.start("b");
    await clock.step(BARRIER + 1_000);
    a.stop.abort("stop");
    await clock.step(60_000);
    expect(world.spans).toMatchObject([
      { replica: "a", from: BARRIER, to: BARRIER + 18_000 },
      { replica: "b", from: 20_000 + BARRIER },
    ]);
    expect([a.error, world.overlaps()]).toEqual([undefined, []]);
    await world.end();
  });

  it("wait for a controller whose grace is a minute", async () => {
    await world.greet("ann");
    world.workTime = 55_000;
    world.controller = { grace: 60_000 };
    const a = world.start("a");
    await clock.step(BARRIER + 1_000);
    a.stop.abort("stop");
    await clock.step(53_999);
    expect(a.isEnded).toBe(false);
    await clock.step(1);
    expect([a.isEnded, a.error]).toEqual([true, undefined]);
    expect(world.spans).toMatchObject([{ from: BARRIER, to: BARRIER + 55_000 }]);
    await world.end();
  });

  const stuck: Runnable = { name: "stuck", run: () => new Promise(() => {}) };
  const slots = { shards: { count: 2, namespace: "default" } };
  it.each<[string, Partial<OperatorOptions>, Runnable[], string | undefined]>([
    ["an election", {}, [], undefined],
    ["slots", slots, [], undefined],
    ["a part that never ends", {}, [stuck], '"leader-elector" not stopped within 23000 ms'],
    ["slots and a part that never ends", slots, [stuck], '"work" not stopped within 23000 ms'],
  ])("stop within 28 s though the API server goes away, with %s", async (...row) => {
    const [, options, more, problem] = row;
    await world.greet("ann");
    let calls = 0;
    const a = world.start("a", {
      ...options,
      setup: ({ cluster, controller, events }) => {
        const greetings = cluster.watch(Greeting);
        const reconcile = async (): Promise<void> => {
          calls += 1;
          events.record(greetings.get("default/ann") as never, {
            reason: "Seen",
            action: "See",
            note: "a",
          });
          await clock.sleep(3_600_000); // ignores its abort
        };
        return () => [
          controller({ name: "slow", sources: [greetings.source()], reconcile }),
          ...more,
        ];
      },
    });
    await clock.step(BARRIER + 30_000);
    expect(calls).toBe(1);
    a.stop.abort("stop");
    await clock.step(14_000);
    world.api.stop();
    await clock.step(14_000);
    expect(a.isEnded).toBe(true);
    expect((a.error as Error | undefined)?.message).toBe(problem);
  });

  it("name the part that does not stop in time", async () => {
    await world.greet("ann");
    const a = world.start("a", { setup: () => () => [stuck] });
    await clock.step(1_000);
    a.stop.abort("stop");
    await clock.step(22_999);
    expect(a.isEnded).toBe(false);
    await clock.step(1);
    expect(a.error).toMatchObject({ message: '"leader-elector" not stopped within 23000 ms' });
  });
});
