import { FakeClock } from "@holdfast/clock/testing";
import { Manager, MemoryLock, silentLogger } from "@holdfast/controller";
import { type OutboxEvent, Recovery, Relay, Retention } from "@holdfast/outbox";
import {
  MemoryOutbox,
  type MemoryOutboxOptions,
  MemoryStore,
  RecordingPublisher,
} from "@holdfast/outbox/testing";
import { seededRandom } from "@holdfast/wait/strategies";
import { describe, expect, it } from "vitest";
import { idOf, sample } from "../sample.ts";

const DAY = 86_400_000;

function open(options: Partial<MemoryOutboxOptions> = {}) {
  const clock = new FakeClock();
  const publisher = new RecordingPublisher({ clock });
  const events: OutboxEvent[] = [];
  const common = { name: "shop", publisher, clock, jitter: 0, logger: silentLogger };
  const onEvent = (event: OutboxEvent): number => events.push(event);
  const outbox = new MemoryOutbox({ ...common, onEvent, ...options });
  const stop = new AbortController();
  return { clock, publisher, outbox, stop, events };
}

/** Runs the outbox during `work`, then stops it. Nothing of it is left. */
async function whileRunning(
  { clock, outbox, stop }: ReturnType<typeof open>,
  work: () => Promise<unknown>,
): Promise<void> {
  const running = outbox.run(stop.signal);
  await work();
  stop.abort();
  await clock.run(() => running);
  expect(clock.waiters()).toBe(0);
}

describe("OutboxService", () => {
  it("sends a message at once after its commit, and not after a rollback", async () => {
    const world = open();
    const { outbox, publisher, clock } = world;
    await whileRunning(world, async () => {
      const failed = outbox.transaction(async (tx) => {
        await outbox.save(tx, sample(1));
        throw new Error("no stock");
      });
      await expect(failed).rejects.toThrow("no stock");
      await outbox.transaction((tx) => outbox.save(tx, sample(2)));
      await clock.step(10);
      expect(publisher.attempts.map(({ message }) => message.id)).toEqual([idOf(2)]);
    });
    expect(outbox.status().state).toBe("stopped");
  });

  it("takes over the messages of a process that died", async () => {
    const world = open();
    const { outbox, publisher, clock } = world;
    await outbox.transaction((tx) => outbox.save(tx, sample(1)));
    const now = clock.now();
    await outbox.store.claim({ relay: "dead", now, until: now + 60_000, limit: 1 });
    await whileRunning(world, async () => {
      await clock.step(59_000);
      expect(publisher.attempts).toEqual([]);
      await clock.step(30_000);
      expect(publisher.attempts).toHaveLength(1);
    });
  });

  it.each([
    ["a week", undefined, 7 * DAY],
    ["keepDelivered", DAY, DAY],
  ])("removes a delivered message after %s", async (_, keepDelivered, kept) => {
    const world = open({ keepDelivered });
    const { outbox, clock } = world;
    await whileRunning(world, async () => {
      await outbox.transaction((tx) => outbox.save(tx, sample(1)));
      await clock.step(10);
      clock.setSystemTime(clock.now() + kept - 120_000);
      await clock.step(110_000);
      expect(await outbox.store.find(idOf(1))).toMatchObject({ status: "delivered" });
      await clock.step(120_000);
      expect(await outbox.store.find(idOf(1))).toBeUndefined();
    });
  });

  it("keeps all delivered messages with keepDelivered: Infinity", async () => {
    const world = open({ keepDelivered: Number.POSITIVE_INFINITY });
    const { outbox, clock } = world;
    await whileRunning(world, async () => {
      await outbox.transaction((tx) => outbox.save(tx, sample(1)));
      await clock.step(10);
      clock.setSystemTime(clock.now() + 1_000 * DAY);
      await clock.step(120_000);
      expect(await outbox.store.find(idOf(1))).toMatchObject({ status: "delivered" });
    });
  });

  it("forgets what once() has handled after 30 days, or keepHandled", async () => {
    for (const [keepHandled, kept] of [[undefined, 30 * DAY] as const, [DAY, DAY] as const]) {
      const world = open({ keepHandled, keepDelivered: Number.POSITIVE_INFINITY });
      const { outbox, clock } = world;
      const isNew = () => outbox.once("a", async () => undefined);
      await whileRunning(world, async () => {
        expect([await isNew(), await isNew()]).toEqual([true, false]);
        clock.setSystemTime(clock.now() + kept - 120_000);
        await clock.step(119_999);
        expect(await isNew()).toBe(false);
        await clock.step(60_001);
        expect(await outbox.store.removeOnce(clock.now(), 10)).toBe(0);
        expect(await isNew()).toBe(true);
      });
    }
  });

  it("sends a message when it is due, and those that go first before the others", async () => {
    const world = open({ workers: 1 });
    const { outbox, publisher, clock } = world;
    const start = clock.monotonic();
    await whileRunning(world, async () => {
      await outbox.transaction((tx) =>
        outbox.save(tx, [
          sample(1, { delay: 5_000 }),
          sample(2, { dueAt: clock.now() + 7_000, priority: 1 }),
          sample(3, { delay: 7_000 }),
          sample(4, { delay: 7_000, priority: -1 }),
        ]),
      );
      await clock.step(4_999);
      expect(publisher.attempts).toEqual([]);
      await clock.step(5_001);
    });
    const sent = publisher.attempts.map(({ message, at }) => [message.id, at + start]);
    expect(sent.map(([id, at]) => [id, Number(at) - start])).toEqual([
      [idOf(1), 5_000],
      [idOf(4), 7_000],
      [idOf(3), 7_000],
      [idOf(2), 7_000],
    ]);
  });

  it("cancels a message, and sends the next one of its key at once", async () => {
    const world = open({ order: "key" });
    const { outbox, publisher, clock } = world;
    const ids = () => publisher.attempts.map(({ message }) => message.id);
    await whileRunning(world, async () => {
      for (const [n, key] of [1, 2, 3, 4].map((each) => [each, each < 3 ? "a" : "b"] as const))
        await outbox.transaction((tx) =>
          outbox.save(tx, sample(n, { key, delay: n % 2 === 1 ? 60_000 : 0 })),
        );
      await clock.step(1_000);
      expect(ids()).toEqual([]);
      expect(await outbox.cancel(idOf(1).toUpperCase())).toBe(true);
      await clock.step(1);
      expect(ids()).toEqual([idOf(2)]);
      expect(await outbox.transaction((tx) => outbox.cancel(idOf(3), tx))).toBe(true);
      await clock.step(1);
      expect(ids()).toEqual([idOf(2), idOf(4)]);
      expect(await outbox.cancel(idOf(4))).toBe(false);
      await clock.step(120_000);
    });
    expect(ids()).toEqual([idOf(2), idOf(4)]);
  });

  it("runs the work of a consumer once, again after a rollback, and sends what it saves", async () => {
    const world = open();
    const { outbox, publisher, clock } = world;
    const effects: string[] = [];
    const handle = (effect: string, fails = false) =>
      outbox.once("message 1", async (tx) => {
        await outbox.save(tx, sample(1));
        await clock.sleep(1_000);
        if (fails) throw new Error("no effect");
        effects.push(effect);
      });
    await whileRunning(world, async () => {
      const all = Promise.allSettled([handle("first", true), handle("second"), handle("third")]);
      await clock.step(2_000);
      expect(await all).toMatchObject([
        { reason: new Error("no effect") },
        { value: true },
        { value: false },
      ]);
      await clock.step(1);
      expect(publisher.attempts).toHaveLength(1);
      const inOwn = await outbox.transaction((tx) => outbox.once("message 2", async () => {}, tx));
      expect([inOwn, await outbox.once("message 2", async () => {})]).toEqual([true, false]);
    });
    expect(effects).toEqual(["second"]);
  });

  it("saves without a publisher, and says that run() needs one", async () => {
    const { outbox, stop } = open({ publisher: undefined });
    await outbox.transaction((tx) => outbox.save(tx, sample(1)));
    expect(await outbox.backlog()).toEqual({ pending: 1, retrying: 0, dead: 0 });
    await expect(outbox.run(stop.signal)).rejects.toThrow(
      new TypeError(
        "options.publisher is missing: pass it to send messages; a process that only saves them needs no run()",
      ),
    );
    expect(outbox.status()).toEqual({
      held: [],
      state: "new",
      attempts: 0,
      waiting: 0,
      unwritten: 0,
    });
  });

  it("lists and replays dead letters", async () => {
    let isDown = true;
    const publisher = new RecordingPublisher({
      respond: () => {
        if (isDown) throw new Error("down");
      },
    });
    const world = open({ publisher });
    const { outbox, clock } = world;
    await whileRunning(world, async () => {
      await outbox.transaction((tx) => outbox.save(tx, sample(1, { maxAttempts: 1 })));
      await clock.step(10);
      expect(await outbox.deadLetters.list()).toHaveLength(1);
      isDown = false;
      await outbox.deadLetters.replay("all");
      await clock.step(10);
      expect(await outbox.store.find(idOf(1))).toMatchObject({ status: "delivered" });
    });
  });

  it("names its process by host and random digits, the same for the same randomness", async () => {
    const relays = async (options: Partial<MemoryOutboxOptions>) => {
      const world = open(options);
      await whileRunning(world, async () => {
        await world.outbox.transaction((tx) => world.outbox.save(tx, sample(1)));
        await world.clock.step(10);
      });
      return world.events.flatMap((event) => (event.type === "delivered" ? event.claim.relay : []));
    };
    const [one, two] = [
      await relays({ random: seededRandom(1) }),
      await relays({ random: seededRandom(1) }),
    ];
    expect(one).toEqual(two);
    expect(one[0]).toMatch(/^.+-[0-9a-f]{8}$/);
    expect(await relays({ identity: "shop-0" })).toEqual(["shop-0"]);
  });

  it("runs once", async () => {
    const world = open();
    await whileRunning(world, async () => {
      await expect(world.outbox.run(world.stop.signal)).rejects.toThrow(
        new Error("outbox shop has already run"),
      );
    });
    await expect(world.outbox.run(world.stop.signal)).rejects.toThrow("has already run");
  });

  it("elects by the lock of its options", async () => {
    const lock = new MemoryLock();
    const world = open({ lock, identity: "shop-0" });
    await whileRunning(world, async () => {
      await world.clock.step(1_000);
      const signal = new AbortController().signal;
      expect((await lock.get(signal))?.record.holder).toBe("shop-0/recovery");
    });
  });

  it("runs in a Manager, which gives it the time it needs to stop", async () => {
    const { outbox, clock, stop } = open();
    expect(outbox.stopTimeout).toBe(41_000);
    const manager = new Manager({ clock, logger: silentLogger, stopTimeout: 60_000 });
    manager.add(outbox);
    const running = manager.run(stop.signal);
    await clock.step(1_000);
    expect(manager.status().runnables).toMatchObject([{ name: "shop" }]);
    stop.abort();
    await clock.run(() => running);
  });
});

it("tasks of one process have one name, and a Manager takes all of them", () => {
  const store = new MemoryStore();
  const common = { name: "shop-1", store, lock: new MemoryLock() };
  const publisher = new RecordingPublisher();
  const manager = new Manager();
  for (const part of [
    new Relay({ name: "shop-1", store, publisher }),
    new Recovery(common),
    new Retention(common),
  ])
    manager.add(part);
  expect(manager.status().runnables.map(({ name }) => name)).toEqual([
    "shop-1",
    "shop-1/recovery",
    "shop-1/retention",
  ]);
});
