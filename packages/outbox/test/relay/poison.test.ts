import { FakeClock } from "@holdfast/clock/testing";
import { MemoryLock, silentLogger } from "@holdfast/controller";
import { type Message, type OutboxEvent, Recovery, Relay } from "@holdfast/outbox";
import { faultyStore, MemoryStore } from "@holdfast/outbox/testing";
import { seededRandom } from "@holdfast/wait/strategies";
import { describe, expect, it } from "vitest";
import { drawn } from "../../../../test/drawn.ts";
import { idOf, numberOf, sample } from "../sample.ts";

const SECOND = 1_000;
const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

/** Relays that die of some messages, one process after the other, and a recovery that lives on. */
class World {
  readonly clock = new FakeClock();
  readonly memory = new MemoryStore();
  readonly stop = new AbortController();
  /** The numbers of the messages in flight at each death. */
  readonly deaths: number[][] = [];
  readonly #poison: ReadonlySet<number>;
  /** The delays after each expired claim, in milliseconds; undefined for a dead letter. */
  readonly delays = new Map<number, (number | undefined)[]>();
  readonly #ends: Promise<unknown>[] = [];
  #living = new AbortController();

  constructor(poison: readonly number[]) {
    this.#poison = new Set(poison);
  }

  async saveAll(messages: number): Promise<void> {
    await this.memory.transaction(async (tx) => {
      for (const number of range(messages))
        await this.memory.save(tx, sample(number), this.clock.now());
    });
  }

  recover(): void {
    const { clock, memory: store } = this;
    const lock = new MemoryLock();
    const onEvent = (event: OutboxEvent): void => {
      if (event.type !== "expired") return;
      const { now, dueAt } = event.failure;
      const number = numberOf(event.claim.message.id);
      const delay = dueAt === undefined ? undefined : dueAt - now;
      this.delays.set(number, [...(this.delays.get(number) ?? []), delay]);
    };
    const recovery = new Recovery({
      name: "recovery",
      store,
      lock,
      clock,
      jitter: 0,
      onEvent,
      logger: silentLogger,
    });
    this.#ends.push(recovery.run(this.stop.signal));
  }

  /** Another process starts a second after the death of this one. */
  start(name: string): void {
    const { clock, memory } = this;
    const life = new AbortController();
    const inFlight = new Set<number>();
    const gone = new Promise<never>(() => {});
    const die = (): void => {
      if (life.signal.aborted) return;
      this.deaths.push([...inFlight].sort((a, b) => a - b));
      life.abort();
      clock.afterFunc(SECOND, () => this.start(`${name}'`));
    };
    const publish = async ({ id }: Message): Promise<void> => {
      inFlight.add(numberOf(id));
      await clock.sleep(SECOND / 2);
      if (this.#poison.has(numberOf(id))) die();
      await clock.sleep(SECOND / 2);
      if (life.signal.aborted) await gone;
      inFlight.delete(numberOf(id));
    };
    const store = faultyStore(memory, {
      before: () => (life.signal.aborted ? gone : undefined),
    });
    const random = seededRandom(name.length);
    const relay = new Relay({
      name,
      store,
      publisher: { publish },
      clock,
      random,
      logger: silentLogger,
    });
    const { signal } = life;
    this.#living = life;
    this.#ends.push(relay.run(signal));
  }

  async end(): Promise<void> {
    this.stop.abort();
    this.#living.abort();
    await this.clock.run(() => Promise.all(this.#ends));
  }
}

describe("messages that kill the process of their relay", () => {
  const cases: readonly (readonly [messages: number, poison: readonly number[]])[] = [
    [60, [1]],
    [60, [7]],
    [60, [60]],
    [60, [3, 4, 40]],
    [60, range(6)],
    [30, [11]],
    [100, [25]],
    [200, [150]],
    [300, [299]],
    [300, [20]],
  ];
  it.each(drawn(cases, 5))(
    "of %i messages %j die alone, after four deaths each, and all others arrive",
    async (messages, poison) => {
      const world = new World(poison);
      await world.saveAll(messages);
      world.recover();
      world.start("relay");
      await world.clock.step(3_600 * SECOND, { turns: 0 });
      for (const number of range(messages)) {
        const message = await world.memory.find(idOf(number));
        const delays = world.delays.get(number);
        if (poison.includes(number)) {
          expect(message?.status).toBe("dead");
          expect(delays).toEqual([0, 10 * SECOND, 20 * SECOND, undefined]);
        } else {
          expect(message?.status).toBe("delivered");
          // The death of another one costs it nothing.
          expect(delays ?? [0]).toEqual([0]);
        }
      }
      // The first death takes along those in flight, the later ones nobody.
      const alone = world.deaths.filter((dead) => dead.length === 1);
      expect(alone.length).toBeGreaterThanOrEqual(3 * poison.length);
      expect(world.deaths.length).toBeLessThanOrEqual(4 * poison.length);
      await world.end();
    },
  );
});

describe("messages that are attempted alone, one after the other", () => {
  const start = 1_700_000_000_000;

  /** A store with messages of which a claim has expired, as after the death of a process whose receiver hung. */
  async function storeWithExpired(count: number): Promise<MemoryStore> {
    const store = new MemoryStore();
    await store.transaction(async (tx) => {
      for (const number of range(count))
        await store.save(tx, sample(number, { maxAttempts: 1 }), start);
    });
    const { claims } = await store.claim({ relay: "dead", now: start, until: start, limit: count });
    const failure = { now: start, error: "expired", dueAt: start };
    for (const claim of claims) await store.recover(claim, failure, { name: "x", token: 1 });
    return store;
  }

  const healthy = (number: number) => sample(number, { topic: "healthy" });

  it("leave the others half of the time", async () => {
    const clock = new FakeClock({ now: start });
    const store = await storeWithExpired(20);
    const waits: number[] = [];
    const publish = async ({ topic, createdAt }: Message): Promise<void> => {
      if (topic === "healthy") waits.push(clock.now() - createdAt);
      else await new Promise(() => {});
    };
    const publisher = { publish };
    const relay = new Relay({ name: "relay", store, publisher, clock, logger: silentLogger });
    const stop = new AbortController();
    const running = relay.run(stop.signal);
    for (let number = 100; number < 700; number++) {
      await store.transaction((tx) => store.save(tx, healthy(number), clock.now()));
      relay.wake();
      await clock.step(SECOND);
    }
    expect(Math.max(...waits)).toBeLessThanOrEqual(16 * SECOND);
    expect(waits).toHaveLength(600);
    expect(await store.counts()).toMatchObject({ dead: 20 });
    stop.abort();
    await clock.run(() => running);
    expect(clock.waiters()).toBe(0);
  });

  it.each([SECOND, 5 * SECOND, 10 * SECOND])(
    "leave the others half of the throughput, if an attempt of those takes %i ms",
    async (duration) => {
      const clock = new FakeClock({ now: start });
      const store = await storeWithExpired(40);
      let sent = 0;
      const publish = async ({ topic }: Message): Promise<void> => {
        if (topic !== "healthy") await new Promise(() => {});
        await clock.sleep(duration);
        sent++;
      };
      const publisher = { publish };
      const workers = 4;
      const relay = new Relay({
        name: "relay",
        store,
        publisher,
        clock,
        workers,
        logger: silentLogger,
      });
      await store.transaction(async (tx) => {
        for (const number of range((workers * 610 * SECOND) / duration))
          await store.save(tx, healthy(1_000 + number), start);
      });
      const stop = new AbortController();
      const running = relay.run(stop.signal);
      await clock.step(600 * SECOND);
      // The last phase may have no equal after it yet.
      const phase = 15 * SECOND + duration;
      expect(sent).toBeGreaterThanOrEqual((workers * (600 * SECOND - 2 * phase)) / 2 / duration);
      stop.abort();
      await clock.run(() => running);
    },
  );

  it("are given back if their claim comes too late to be alone", async () => {
    const clock = new FakeClock({ now: start });
    const store = await storeWithExpired(1);
    const claim = store.claim.bind(store);
    const late: number[] = [];
    store.claim = async (request) => {
      const claimed = await claim(request);
      if (request.hasExpired === true && late.length === 0) {
        late.push(claimed.claims.length);
        await clock.sleep(11 * SECOND); // Longer than storeTimeout.
      }
      return claimed;
    };
    const inFlight = new Set<string>();
    const beside: string[][] = [];
    const publish = async ({ id, topic }: Message): Promise<void> => {
      if (topic !== "healthy") beside.push([...inFlight]);
      inFlight.add(id);
      await clock.sleep(SECOND);
      inFlight.delete(id);
    };
    const types: string[] = [];
    const relay = new Relay({
      name: "relay",
      store,
      publisher: { publish },
      clock,
      logger: silentLogger,
      onEvent: (event) => {
        if ("claim" in event && event.claim.message.topic !== "healthy") types.push(event.type);
      },
    });
    const stop = new AbortController();
    const running = relay.run(stop.signal);
    for (let number = 100; number < 400; number++) {
      await store.transaction((tx) => store.save(tx, healthy(number), clock.now()));
      relay.wake();
      await clock.step(SECOND / 5);
    }
    expect(late).toEqual([1]);
    expect(types).toEqual(["released", "delivered"]);
    expect(beside).toEqual([[]]);
    stop.abort();
    await clock.run(() => running);
    expect(clock.waiters()).toBe(0);
  });
});
