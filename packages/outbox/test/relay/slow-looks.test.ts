import { FakeClock } from "@holdfast/clock/testing";
import { type Logger, MemoryLock, silentLogger } from "@holdfast/controller";
import {
  type Message,
  Outbox,
  Recovery,
  Relay,
  type RelayOptions,
  Retention,
} from "@holdfast/outbox";
import type { ClaimFilter, MessageOrder } from "@holdfast/outbox/store";
import { faultyStore, MemoryStore } from "@holdfast/outbox/testing";
import { describe, expect, it } from "vitest";
import { sample } from "../sample.ts";

const SECOND = 1_000;
const MESSAGES = 600;

type Look = (filter: ClaimFilter) => Promise<void>;

/** When a request began, and when it ended. */
type Period = readonly [began: number, ended: number];

/** A relay whose store takes its time for some looks, beside a program that saves a message each second. */
class World {
  readonly clock = new FakeClock();
  readonly looks = { expired: [] as Period[], due: [] as Period[] };
  readonly claims: Period[] = [];
  /** The milliseconds from the save of each healthy message to its attempt. */
  readonly waits: number[] = [];
  readonly store: MemoryStore;
  readonly #look: Look;
  readonly #emptyClaim: number;
  readonly #options: Partial<RelayOptions>;

  constructor({ order, look, emptyClaim = 0, ...options }: Slow) {
    this.store = new MemoryStore({ order });
    this.#look = (filter) => look?.(this.clock, filter) ?? Promise.resolve();
    this.#emptyClaim = emptyClaim;
    this.#options = options;
    this.#slowDown();
  }

  #slowDown(): void {
    const { clock, store, looks, claims } = this;
    const nextDue = store.nextDue.bind(store);
    store.nextDue = async (signal, filter = {}) => {
      const next = await nextDue(signal, filter);
      const began = clock.monotonic();
      try {
        await this.#look(filter);
      } finally {
        looks[filter.hasExpired === true ? "expired" : "due"].push([began, clock.monotonic()]);
      }
      return next;
    };
    const claim = store.claim.bind(store);
    store.claim = async (request) => {
      const claimed = await claim(request);
      const began = clock.monotonic();
      if (claimed.claims.length === 0) await clock.sleep(this.#emptyClaim);
      claims.push([began, clock.monotonic()]);
      return claimed;
    };
  }

  async run(): Promise<void> {
    const { clock, store } = this;
    const publish = async ({ topic, createdAt }: Message): Promise<void> => {
      if (topic === "hung") await new Promise(() => {});
      this.waits.push(clock.now() - createdAt);
    };
    const relay = new Relay({
      name: "relay",
      store,
      publisher: { publish },
      clock,
      logger: silentLogger,
      ...this.#options,
    });
    const outbox = new Outbox({
      store,
      clock,
      transaction: (work) => store.transaction(work),
      onCommitted: () => relay.wake(),
    });
    const stop = new AbortController();
    const save = (topic: string, from: number, count: number): Promise<void> =>
      outbox.transaction(async (tx) => {
        for (let number = from; number < from + count; number++)
          await outbox.save(
            tx,
            sample(number, { topic, maxAttempts: 1_000, backoff: { factor: 1 } }),
          );
      });
    const running = relay.run(stop.signal);
    for (let number = 1; number <= MESSAGES; number++) {
      await save("healthy", number, 1);
      await clock.step(SECOND);
      if (number === 1) await save("hung", 1_000, 300);
    }
    await clock.step(2 * SECOND);
    stop.abort();
    await clock.run(() => running);
    await clock.step(10 * SECOND); // The sleeps of the store.
    expect(clock.waiters()).toBe(0);
  }
}

interface Slow extends Partial<RelayOptions> {
  readonly order?: MessageOrder;
  readonly look?: (clock: FakeClock, filter: ClaimFilter) => Promise<void> | undefined;
  /** How long a claim takes that finds nothing, in milliseconds. */
  readonly emptyClaim?: number;
}

const isForExpired = ({ hasExpired }: ClaimFilter): boolean => hasExpired === true;
const leavesOut = ({ exceptTopics = [] }: ClaimFilter): boolean => exceptTopics.length > 0;

const DOORS: readonly (readonly [string, Slow])[] = [
  ...[4.9, 5, 9].map(
    (seconds) =>
      [
        `the look for expired claims takes ${seconds} s`,
        {
          look: (clock, filter) =>
            isForExpired(filter) ? clock.sleep(seconds * SECOND) : undefined,
        },
      ] as const satisfies readonly [string, Slow],
  ),
  [
    "the look for expired claims takes 5 s, in order",
    {
      order: "key",
      look: (clock, filter) => (isForExpired(filter) ? clock.sleep(5 * SECOND) : undefined),
    },
  ],
  [
    "the look for expired claims takes longer than pollInterval",
    {
      pollInterval: 100,
      look: (clock, filter) => (isForExpired(filter) ? clock.sleep(SECOND) : undefined),
    },
  ],
  [
    "the look for expired claims fails after 5 s",
    {
      look: async (clock, filter) => {
        if (!isForExpired(filter)) return;
        await clock.sleep(5 * SECOND);
        throw new Error("the database is away");
      },
    },
  ],
  [
    "the look for expired claims fails at once",
    {
      look: async (_, filter) => {
        if (isForExpired(filter)) throw new Error("the database is away");
      },
    },
  ],
  [
    "the look for expired claims never ends",
    { look: (_, filter) => (isForExpired(filter) ? new Promise<never>(() => {}) : undefined) },
  ],
  [
    "the look for due messages takes 6 s",
    { look: (clock, filter) => (isForExpired(filter) ? undefined : clock.sleep(6 * SECOND)) },
  ],
  [
    "the look for messages of the other topics takes 6 s",
    { look: (clock, filter) => (leavesOut(filter) ? clock.sleep(6 * SECOND) : undefined) },
  ],
  ["each look takes 6 s", { look: (clock) => clock.sleep(6 * SECOND) }],
  ["each look never ends", { look: () => new Promise<never>(() => {}) }],
  ["a claim that finds nothing takes half a second", { emptyClaim: SECOND / 2, pollInterval: 100 }],
];

describe("a relay whose store is slow to say what is due", () => {
  it.each(DOORS)("sends what is due meanwhile: %s", async (_, slow) => {
    const world = new World(slow);
    await world.run();
    expect(world.waits).toHaveLength(MESSAGES);
    expect(Math.max(...world.waits)).toBeLessThanOrEqual(SECOND);
    for (const looks of Object.values(world.looks)) expectRests(looks);
  });

  it.each([SECOND / 10, 5 * SECOND, 9 * SECOND])(
    "rests as long as a claim took that found nothing: %i ms",
    async (emptyClaim) => {
      const { claims, clock, store } = new World({ emptyClaim });
      const relay = new Relay({
        name: "relay",
        store,
        publisher: { publish: async () => {} },
        clock,
        logger: silentLogger,
      });
      const stop = new AbortController();
      const running = relay.run(stop.signal);
      await clock.step(600 * SECOND);
      stop.abort();
      await clock.run(() => running);
      expect(claims.length).toBeGreaterThan(600 / 20);
      expectRests(claims);
    },
  );
});

describe("a task under a lock rests as long as its request took", () => {
  const retention = (common: Common) =>
    new Retention({ ...common, batch: 1, interval: SECOND / 10, olderThan: 1 });
  const TASKS = {
    expired: (common: Common) => new Recovery({ ...common, minRound: 0, interval: SECOND / 10 }),
    removeDelivered: retention,
    removeOnce: retention,
  };

  it.each(["expired", "removeDelivered", "removeOnce"] as const)("%s", async (slow) => {
    const clock = new FakeClock();
    const memory = new MemoryStore();
    const periods: Period[] = [];
    const store = faultyStore(memory, {
      before: async (request) => {
        if (request !== slow) return;
        const began = clock.monotonic();
        await clock.sleep(5 * SECOND);
        periods.push([began, clock.monotonic()]);
      },
    });
    const messages = Array.from({ length: 9 }, (_, i) => sample(i));
    await memory.transaction(async (tx) => {
      for (const message of messages) await memory.save(tx, message, clock.now());
      for (const { key } of messages) await memory.takeOnce(tx, key, clock.now(), 1);
    });
    const now = clock.now();
    const { claims } = await memory.claim({ relay: "a", now, until: now, limit: 9 });
    if (slow === "removeDelivered")
      await memory.write(claims.map((claim) => ({ type: "delivered", claim, now: now - SECOND })));
    const task = TASKS[slow]({
      name: "task",
      store,
      lock: new MemoryLock(),
      clock,
      logger: silentLogger,
    });
    const stop = new AbortController();
    const running = task.run(stop.signal);
    await clock.step(200 * SECOND);
    stop.abort();
    await clock.run(() => running);
    expect(periods.length).toBeGreaterThan(9);
    expectRests(periods);
  });
});

interface Common {
  readonly name: string;
  readonly store: MemoryStore;
  readonly lock: MemoryLock;
  readonly clock: FakeClock;
  readonly logger: Logger;
}

/** One at a time, and as long a rest after each as it took. */
function expectRests(periods: readonly Period[]): void {
  for (const [i, [began]] of periods.entries()) {
    const [before, ended] = periods[i - 1] ?? [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
    expect(began).toBeGreaterThanOrEqual(i === 0 ? began : ended + (ended - before));
  }
}
