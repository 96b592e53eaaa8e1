// Time and chance are arguments (law 1): with them, no program reaches those of the machine.
import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  ExponentialLimiter,
  FastSlowLimiter,
  LeaderElector,
  Manager,
  MaxOfLimiter,
  MemoryLock,
  type RateLimiter,
  resync,
  Shards,
  silentLogger,
  TokenBucketLimiter,
} from "@holdfast/controller";
import { Outbox, Recovery, Relay, Retention } from "@holdfast/outbox";
import { RabbitPublisher } from "@holdfast/outbox/rabbitmq";
import { MemoryStore } from "@holdfast/outbox/testing";
import { every, poll, retry } from "@holdfast/wait";
import { connectWithBackoff, keepConnected } from "@holdfast/wait/connect";
import { RetryBudget } from "@holdfast/wait/limit";
import { seededRandom } from "@holdfast/wait/strategies";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

/** What a program is given. */
interface Given {
  readonly clock: FakeClock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Notes what the program does, with the instant. */
  readonly note: (text: string) => void;
}

type Program = (given: Given) => Promise<unknown>;

const down = (): never => {
  throw new Error("down");
};

function failing(limiter: RateLimiter): Program {
  return ({ clock, random, signal, note }) => {
    const reconcile = ({ key }: { readonly key: string }): never => {
      note(key);
      return down();
    };
    const common = { name: "failing", clock, random, logger: silentLogger };
    const controller = new Controller({ ...common, limiter, reconcile });
    for (const key of ["a", "b"]) controller.add(key);
    return controller.run(signal);
  };
}

const JITTER = { duration: 100, jitter: 0.5 };
const backoff = (random: () => number) => ({ duration: 100, factor: 2, jitter: 0.5, random });

/** Each makes its limiters, locks and sources anew: they are of one program. */
const PROGRAMS: Record<string, () => Program> = {
  "a controller": () => failing(new ExponentialLimiter(JITTER)),
  "a controller with limiters within a limiter": () =>
    failing(
      new MaxOfLimiter(
        [new ExponentialLimiter(JITTER), new TokenBucketLimiter({ qps: 10, burst: 1 })],
        { jitter: 0.5 },
      ),
    ),
  "a controller with a limiter of two speeds": () =>
    failing(new FastSlowLimiter({ fast: 10, slow: 1_000, maxFast: 2 })),
  "a controller whose source fails":
    () =>
    ({ clock, random, signal, note }) => {
      const start = (): never => {
        note("start");
        return down();
      };
      const sources = [{ name: "odd", start }];
      const common = { name: "odd", clock, random, logger: silentLogger };
      return new Controller({ ...common, sources, reconcile: () => {} }).run(signal);
    },
  "a controller that lists with jitter":
    () =>
    ({ clock, random, signal, note }) => {
      const list = (): string[] => {
        note("list");
        return ["a"];
      };
      const sources = [resync({ list, interval: 1_000, jitter: 0.5 })];
      const common = { name: "lists", clock, random, logger: silentLogger };
      return new Controller({ ...common, sources, reconcile: () => {} }).run(signal);
    },
  "electors in managers":
    () =>
    async ({ clock, random, signal, note }) => {
      const lock = new MemoryLock();
      const runs = ["a", "b"].map((identity) => {
        const manager = new Manager({ clock, logger: silentLogger });
        const lead = async () => {
          note(identity);
          await clock.sleep(1_000);
        };
        const common = { clock, random, logger: silentLogger };
        manager.add(new LeaderElector({ ...common, lock, identity, lead }));
        return manager.run(signal);
      });
      await Promise.all(runs);
    },
  shards:
    () =>
    async ({ clock, random, signal, note }) => {
      const locks = new Map<string, MemoryLock>();
      const lockOf = (name: string): MemoryLock => {
        const lock = locks.get(name) ?? new MemoryLock();
        locks.set(name, lock);
        return lock;
      };
      const runs = ["a", "b"].map((identity) => {
        const lead = async (term: { readonly slot: number; readonly signal: AbortSignal }) => {
          note(`${identity} ${term.slot}`);
          await clock.sleep(Number.POSITIVE_INFINITY, { signal: term.signal });
        };
        const common = { clock, random, logger: silentLogger };
        return new Shards({ ...common, count: 4, identity, lockOf, lead }).run(signal);
      });
      await Promise.all(runs);
    },
  "a relay, a recovery and a retention":
    () =>
    async ({ clock, random, signal, note }) => {
      const store = new MemoryStore();
      const common = { store, clock, random, logger: silentLogger };
      const lock = new MemoryLock();
      const publish = async (): Promise<never> => {
        note("publish");
        return down();
      };
      const relay = new Relay({ ...common, name: "relay", publisher: { publish } });
      const recovery = new Recovery({ ...common, name: "recovery", lock });
      const retention = new Retention({ ...common, name: "retention", lock, olderThan: 1 });
      const outbox = new Outbox({ store, transaction: (work) => store.transaction(work), clock });
      await outbox.transaction(async (tx) => {
        const id = "00000000-0000-4000-8000-000000000001";
        await outbox.save(tx, { id, topic: "orders", key: "7", payload: 1 });
      });
      await Promise.all([relay, recovery, retention].map((each) => each.run(signal)));
    },
  "a relay whose store is down":
    () =>
    ({ clock, random, signal, note }) => {
      const refuse = async (): Promise<never> => {
        note("request");
        return down();
      };
      const calls = ["claim", "nextDue", "write", "now", "listen"].map((call) => [call, refuse]);
      const store = { order: "none", ...Object.fromEntries(calls) };
      const common = { name: "relay", clock, random, logger: silentLogger };
      return new Relay({ ...common, store, publisher: { publish: async () => {} } }).run(signal);
    },
  retry:
    () =>
    ({ clock, random, signal, note }) => {
      const attempt = (): never => {
        note("attempt");
        return down();
      };
      const budget = new RetryBudget({ share: 1 });
      return retry(attempt, { backoff: backoff(random), retries: 5, budget, clock, signal });
    },
  poll:
    () =>
    ({ clock, random, signal, note }) =>
      poll(() => void note("call"), { backoff: backoff(random), clock, signal }),
  every:
    () =>
    async ({ clock, random, signal, note }) => {
      for await (const _ of every(1_000, { jitter: 0.5, random, clock, signal })) note("tick");
    },
  connectWithBackoff:
    () =>
    ({ clock, random, signal, note }) => {
      const connect = (): never => {
        note("connect");
        return down();
      };
      return connectWithBackoff(connect, { backoff: backoff(random), clock, signal });
    },
  "keepConnected, with its default delays":
    () =>
    ({ clock, random, signal, note }) =>
      keepConnected(
        ({ attempt }) => (attempt % 2 === 0 ? down() : note("connected")),
        () => clock.sleep(100),
        { random, clock, signal, resetAfter: 1_000 },
      ),
  "keepConnected, with delays without randomness of their own": () => (given) => {
    const { clock, random, signal, note } = given;
    const connect = ({ attempt }: { readonly attempt: number }) =>
      attempt % 2 === 0 ? down() : note("connected");
    const delays = { duration: 100, factor: 2, jitter: 0.5 };
    return keepConnected(connect, () => clock.sleep(100), {
      ...{ backoff: delays, random, clock, signal, resetAfter: 1_000 },
    });
  },
};

/** Also where the error is caught: a controller goes on without its limiter. */
const reached: string[] = [];

beforeEach(() => {
  reached.length = 0;
  const reach = (name: string) => (): never => {
    reached.push(name);
    throw new Error(`${name} was reached`);
  };
  vi.spyOn(Math, "random").mockImplementation(reach("Math.random"));
  vi.spyOn(Date, "now").mockImplementation(reach("Date.now"));
  vi.spyOn(performance, "now").mockImplementation(reach("performance.now"));
  vi.spyOn(globalThis.crypto, "randomUUID").mockImplementation(reach("randomUUID"));
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** What a program does in a minute, and the error that it ends with. */
async function trace(program: Program): Promise<readonly unknown[]> {
  const clock = new FakeClock();
  const start = clock.monotonic();
  const notes: unknown[] = [];
  const stop = new AbortController();
  const note = (text: string): void => void notes.push([clock.monotonic() - start, text]);
  const random = seededRandom(7);
  const ended = program({ clock, random, signal: stop.signal, note }).then(
    () => "ended",
    (error: unknown) => String(error),
  );
  await clock.step(60_000);
  stop.abort(new Error("stopped"));
  await clock.step(60_000);
  notes.push(await ended);
  return notes;
}

it.each(Object.entries(PROGRAMS))("%s is a function of its arguments", async (_, make) => {
  const first = await trace(make());
  expect(first.length).toBeGreaterThan(1);
  expect(["ended", "Error: stopped", "Error: down"]).toContain(first.at(-1));
  expect(await trace(make())).toEqual(first);
  expect(reached).toEqual([]);
});

it("a publisher to RabbitMQ draws its delays from its randomness", async () => {
  const random = vi.fn(() => 0.5);
  const clock = new FakeClock();
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  await using _ = new RabbitPublisher({ url: "amqp://127.0.0.1:9", clock, random, onError });
  for (let attempt = 1; attempt <= 3; attempt++) {
    await expect.poll(() => errors.length).toBeGreaterThanOrEqual(attempt);
    await clock.step(10_000);
  }
  expect(random).toHaveBeenCalled();
  expect(reached).toEqual([]);
});
