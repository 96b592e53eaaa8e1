import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  Manager,
  RetryAfterError,
  silentLogger,
  TerminalError,
} from "@holdfast/controller";
import {
  type Message,
  type NewMessage,
  Outbox,
  type OutboxEvent,
  Relay,
  type RelayOptions,
} from "@holdfast/outbox";
import type { Claim, ClaimRequest } from "@holdfast/outbox/store";
import { faultyStore, MemoryStore, type StoreFaults } from "@holdfast/outbox/testing";
import { describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { FakePublisher, type Respond } from "../fake-publisher.ts";
import { idOf, numberOf, sample } from "../sample.ts";

interface Set extends Partial<RelayOptions> {
  readonly respond?: Respond;
  readonly faults?: StoreFaults;
}

/** A relay over a store in memory, and a program that saves messages. */
function setUp({ respond, faults = {}, ...options }: Set = {}) {
  const clock = new FakeClock();
  const memory = new MemoryStore();
  const store = faultyStore(memory, faults);
  const publisher = new FakePublisher(clock, respond);
  const events: OutboxEvent[] = [];
  const relay = new Relay({
    name: "relay",
    store,
    publisher,
    clock,
    jitter: 0,
    logger: silentLogger,
    onEvent: (event) => {
      if (event.type !== "claimed") events.push(event);
    },
    ...options,
  });
  const outbox = new Outbox({
    store: memory,
    transaction: (work) => memory.transaction(work),
    onCommitted: () => relay.wake(),
    clock,
  });
  const stop = new AbortController();
  const save = async (numbers: readonly number[], facts: Partial<NewMessage> = {}) =>
    await outbox.transaction(async (tx) => {
      for (const number of numbers) await outbox.save(tx, sample(number, facts));
    });
  const end = async (run: Promise<void>): Promise<void> => {
    stop.abort();
    await clock.run(() => run);
    expect(clock.waiters()).toBe(0);
  };
  const types = (): string[] => events.map(({ type }) => type);
  const runs = (): Promise<void> => relay.run(stop.signal);
  return { clock, memory, publisher, relay, outbox, save, stop, end, events, types, runs };
}

const SECOND = 1_000;
const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

describe("a relay", () => {
  it("sends a message right after its transaction has committed, and once", async () => {
    const { clock, publisher, outbox, memory, end, types, runs } = setUp();
    const run = runs();
    await clock.step(SECOND);
    await outbox.transaction(async (tx) => {
      await outbox.save(tx, sample(1));
      await clock.step(3 * SECOND);
      expect(publisher.sent).toEqual([]);
    });
    await clock.step(600 * SECOND);
    expect(publisher.sent).toEqual([[4 * SECOND, 1]]);
    expect(types()).toEqual(["delivered"]);
    expect(await memory.find(idOf(1))).toMatchObject({ status: "delivered" });
    await end(run);
  });

  it("finds unannounced messages within pollInterval", async () => {
    const { clock, publisher, memory, end, runs } = setUp();
    const run = runs();
    await clock.step(2 * SECOND);
    await memory.transaction((tx) => memory.save(tx, sample(1), clock.now()));
    await clock.step(2_999);
    expect(publisher.sent).toEqual([]);
    await clock.step(1);
    expect(publisher.sent).toEqual([[5 * SECOND, 1]]);
    await end(run);
  });

  it("makes the first retry after the duration of its backoff", async () => {
    const { clock, publisher, save, end, runs } = setUp({ respond: fail });
    const run = runs();
    await save([1], { backoff: { duration: 700, factor: 3 }, maxAttempts: 3 });
    await clock.step(60 * SECOND);
    expect(publisher.sent).toEqual([
      [0, 1],
      [700, 1],
      [2_800, 1],
    ]);
    await end(run);
  });

  it("makes one attempt with maxAttempts: 1", async () => {
    const { clock, publisher, memory, save, end, types, runs } = setUp({ respond: fail });
    const run = runs();
    await save([1], { maxAttempts: 1 });
    await clock.step(600 * SECOND);
    expect(publisher.sent).toEqual([[0, 1]]);
    expect(await memory.find(idOf(1))).toMatchObject({ status: "dead", failedAttempts: 1 });
    expect(types()).toEqual(["dead"]);
    await end(run);
  });

  it("is on time for messages that are due shortly after", async () => {
    const { clock, publisher, memory, end, runs } = setUp();
    for (const number of [1, 2])
      await memory.transaction((tx) => memory.save(tx, sample(number), clock.now() + number * 30));
    const run = runs();
    await clock.step(20 * SECOND);
    expect(publisher.sent).toEqual([
      [30, 1],
      [60, 2],
    ]);
    await end(run);
  });

  it("sends messages on time that become due during its look for due messages", async () => {
    const respond: Respond = async () => {
      await clock.sleep(300);
      if (publisher.sent.length < 3) throw new Error("unreachable");
    };
    const { clock, publisher, save, end, runs } = setUp({
      respond,
      pollInterval: 3_600 * SECOND,
      faults: {
        after: async (request) => {
          if (request === "nextDue") await clock.sleep(2 * SECOND);
        },
      },
    });
    await save([1], { backoff: { duration: 500, factor: 1 } });
    const run = runs();
    await clock.step(600 * SECOND);
    expect(publisher.sent.map(([instant]) => instant)).toEqual([0, 800, 1_600]);
    await end(run);
  });

  it.each<[string, Partial<NewMessage>, Respond, number[], string]>([
    ["doubles the delay each time", {}, fail, [0, 10, 30, 70, 150], "dead"],
    [
      "waits longer each time by the factor",
      { backoff: { factor: 3 } },
      fail,
      [0, 10, 40, 130, 400],
      "dead",
    ],
    [
      "waits the same each time with factor 1",
      { backoff: { factor: 1 } },
      fail,
      [0, 10, 20, 30, 40],
      "dead",
    ],
    ["tries as often as the message says", { maxAttempts: 2 }, fail, [0, 10], "dead"],
    ["tries once with one attempt", { maxAttempts: 1 }, fail, [0], "dead"],
    ["waits as long as it is asked to", {}, asks(60), [0, 60, 120, 180, 260], "dead"],
    ["waits its own time if that is longer", {}, asks(1), [0, 10, 30, 70, 150], "dead"],
    ["waits at most the cap", { backoff: { cap: 25_000 } }, fail, [0, 10, 30, 55, 80], "dead"],
    ["plans no attempt after maxAge", { maxAge: 70_000 }, fail, [0, 10, 30], "dead"],
    ["makes the last attempt before maxAge", { maxAge: 70_001 }, fail, [0, 10, 30, 70], "dead"],
    ["is not put off beyond maxAge", { maxAge: 50_000 }, asks(60), [0], "dead"],
    ["is not put off for years", { maxAttempts: 2 }, asks(1e9), [0, 86_400], "dead"],
    ["does not repeat what can never succeed", {}, never, [0], "dead"],
    ["stops at the first success", {}, failsTwice(), [0, 10, 30], "delivered"],
  ])("%s", async (_, facts, respond, instants, status) => {
    const { clock, publisher, memory, save, end, runs } = setUp({ respond, pollInterval: 1e6 });
    const run = runs();
    await save([1], facts);
    await clock.step(((instants.at(-1) ?? 0) + 600) * SECOND, { turns: 0 });
    expect(publisher.sent).toEqual(instants.map((instant) => [instant * SECOND, 1]));
    const failures = status === "dead" ? instants.length : instants.length - 1;
    expect(await memory.find(idOf(1))).toMatchObject({ status, failedAttempts: failures });
    await end(run);
  });

  it("begins no attempt of a message that is older than maxAge, until it is replayed", async () => {
    const { clock, publisher, memory, save, end, runs } = setUp();
    await save([1], { maxAge: 60_000 });
    await clock.step(60_000);
    const run = runs();
    await clock.step(SECOND);
    expect(publisher.sent).toEqual([]);
    const lastError = "older than its maxAge";
    expect(await memory.find(idOf(1))).toMatchObject({ status: "dead", lastError });
    await memory.replay("all", clock.now());
    await clock.step(10 * SECOND);
    expect(publisher.sent).toHaveLength(1);
    await end(run);
  });

  it("counts its waits from the failure, not from when it was due", async () => {
    const respond: Respond = async () => {
      await clock.sleep(7 * SECOND);
      throw new Error("slow and broken");
    };
    const { clock, publisher, save, end, runs } = setUp({ respond });
    const run = runs();
    await save([1], { maxAttempts: 3 });
    await clock.step(200 * SECOND);
    expect(publisher.sent).toEqual([
      [0, 1],
      [17 * SECOND, 1],
      [44 * SECOND, 1],
    ]);
    await end(run);
  });

  it("spreads waits by the jitter, and never shortens them", async () => {
    const { clock, publisher, save, end, runs } = setUp({
      respond: fail,
      jitter: 0.5,
      random: () => 0.5,
    });
    const run = runs();
    await save([1], { maxAttempts: 3 });
    await clock.step(200 * SECOND);
    expect(publisher.sent.map(([instant]) => instant)).toEqual([0, 12.5 * SECOND, 37.5 * SECOND]);
    await end(run);
  });

  it.each<[string, Partial<Message>]>([
    ["no end", { backoff: { duration: 1, factor: 1e9, cap: 1e300 }, failedAttempts: 50 }],
    ["no number", { backoff: { duration: 0, factor: 1e9, cap: 1e300 }, failedAttempts: 50 }],
    ["no date", { backoff: { duration: 1e200, factor: 1, cap: 1e300 } }],
  ])("waits at most the maximum for a stored message whose wait has %s", async (_, row) => {
    const store = new MemoryStore();
    const claim = store.claim.bind(store);
    let written: Partial<Message> = { maxAttempts: 100, ...row };
    store.claim = async (request) => {
      const { claims, invalid } = await claim(request);
      const changed = claims.map((each) => ({
        ...each,
        message: { ...each.message, ...written },
      }));
      written = {};
      return { claims: changed, invalid };
    };
    const { clock, end, events, runs } = setUp({ store, respond: fail, jitter: 0.5 });
    await store.transaction((tx) => store.save(tx, sample(1), clock.now() - 1e6));
    const run = runs();
    await clock.step(1);
    const [first] = events;
    const { dueAt = Number.NaN } = first?.type === "failed" ? first.failure : {};
    expect(new Date(dueAt).getUTCFullYear()).toBeLessThan(2_200);
    await end(run);
  });

  it("stores the error of the last attempt with its causes, as text that a database accepts", async () => {
    const respond: Respond = () => {
      throw new TerminalError("refused\0", { cause: new Error("no such order", { cause: 404 }) });
    };
    const { clock, memory, save, end, runs } = setUp({ respond });
    const run = runs();
    await save([1]);
    await clock.step(1);
    const { lastError } = (await memory.find(idOf(1))) ?? {};
    expect(lastError).toBe(
      "TerminalError: refused\uFFFD, because of Error: no such order, because of 404",
    );
    await end(run);
  });

  it("counts a failure without a message", async () => {
    const respond: Respond = () => Promise.reject(Object.create(null));
    const { clock, publisher, memory, save, end, runs } = setUp({ respond });
    const run = runs();
    await save([1], { maxAttempts: 1 });
    await clock.step(30 * SECOND);
    expect(publisher.sent).toHaveLength(1);
    expect(await memory.find(idOf(1))).toMatchObject({
      status: "dead",
      lastError: "an error without a readable message",
    });
    await end(run);
  });

  it("gives up an attempt that takes too long, whether or not it obeys its signal", async () => {
    let reason: unknown;
    const respond: Respond = (_, signal) => {
      signal.addEventListener("abort", () => {
        reason = signal.reason;
      });
      return new Promise(() => {});
    };
    const { clock, publisher, memory, save, end, runs } = setUp({ respond });
    const run = runs();
    await save([1]);
    await clock.step(15 * SECOND);
    expect(reason).toMatchObject({ name: "TimeoutError" });
    expect(await memory.find(idOf(1))).toMatchObject({ status: "retrying", failedAttempts: 1 });
    await clock.step(20 * SECOND);
    expect(publisher.sent.map(([instant]) => instant)).toEqual([0, 25 * SECOND]);
    await end(run);
  });

  it("works on as many messages as it has workers, and claims at most twice as many", async () => {
    const { clock, publisher, memory, relay, save, end, runs } = setUp({
      workers: 3,
      respond: () => clock.sleep(SECOND),
    });
    const run = runs();
    await save(range(50));
    await clock.step(500);
    expect(relay.status()).toEqual({
      held: [],
      state: "running",
      attempts: 3,
      waiting: 3,
      unwritten: 0,
    });
    await clock.step(60 * SECOND);
    expect(publisher.maxInFlight).toBe(3);
    expect(publisher.sent.map(([, number]) => number).sort((a, b) => a - b)).toEqual(range(50));
    expect(await memory.counts()).toMatchObject({ delivered: 50 });
    expect(publisher.sent.at(-1)?.[0]).toBe(16 * SECOND);
    await end(run);
  });

  it("claims no more while as many messages of many topics wait as it has workers", async () => {
    const { clock, relay, outbox, end, runs } = setUp({
      workers: 4,
      respond: () => clock.sleep(SECOND),
    });
    await outbox.transaction(async (tx) => {
      for (const number of range(50))
        await outbox.save(tx, sample(number, { topic: `t${number}` }));
    });
    const run = runs();
    await clock.step(500);
    expect(relay.status()).toEqual({
      held: [],
      state: "running",
      attempts: 4,
      waiting: 4,
      unwritten: 0,
    });
    await end(run);
  });

  const topicOf = (number: number) => ({ topic: `t${number}` });
  const large = (number: number) => ({ ...topicOf(number), payload: "x".repeat(8_000_000) });
  it.each<[string, "attempt" | "write", number, Partial<NewMessage>[], number[]]>([
    ["a worker for its topic", "attempt", 2, range(8).map(() => ({})), [2, 2, 2, 2]],
    ["a worker for many topics", "attempt", 2, range(8).map(topicOf), [2, 2, 2, 2]],
    ["bytes", "attempt", 10, range(6).map(large), [5, 1]],
    ["outcomes that are written", "write", 1, range(50).map(() => ({})), [27, 23]],
    ["outcomes of many topics that are written", "write", 1, range(50).map(topicOf), [29, 21]],
  ])(
    "claims again as soon as there is room, if it lacked %s",
    async (_, slow, workers, facts, perSecond) => {
      const take = (step: string) => (step === slow ? clock.sleep(SECOND) : undefined);
      const { clock, memory, publisher, end, runs } = setUp({
        workers,
        pollInterval: 1e6,
        respond: () => take("attempt"),
        faults: { before: take },
      });
      await memory.transaction(async (tx) => {
        for (const [i, each] of facts.entries())
          await memory.save(tx, sample(i, each), clock.now() - 1e6);
      });
      const run = runs();
      await clock.step(10 * SECOND);
      const seconds = publisher.sent.map(([instant]) => Math.floor(instant / SECOND));
      expect(perSecond.map((__, i) => seconds.filter((second) => second === i).length)).toEqual(
        perSecond,
      );
      expect(await memory.counts()).toMatchObject({ delivered: facts.length });
      await end(run);
    },
  );

  it("takes all claims of a request, although the receiver gets slow meanwhile", async () => {
    let takes = 1;
    let claims = 0;
    const { clock, memory, end, types, runs } = setUp({
      workers: 1,
      respond: () => clock.sleep(takes),
      faults: {
        before: async (request) => {
          if (request !== "claim" || ++claims !== 3) return;
          takes = 500;
          await clock.sleep(2 * SECOND);
        },
      },
    });
    await memory.transaction(async (tx) => {
      for (const number of range(30)) await memory.save(tx, sample(number), clock.now() - 1e6);
    });
    const run = runs();
    await clock.step(60 * SECOND);
    expect(new Set(types())).toEqual(new Set(["delivered"]));
    expect(await memory.counts()).toMatchObject({ delivered: 30 });
    await end(run);
  });

  it("releases messages with a nearly expired claim instead of starting them", async () => {
    const { clock, publisher, memory, save, end, types, runs } = setUp({
      workers: 1,
      claimDuration: 25 * SECOND,
      respond: () => clock.sleep(14 * SECOND),
    });
    const run = runs();
    await save([1, 2]);
    await clock.step(14 * SECOND);
    expect(types().sort()).toEqual(["delivered", "released"]);
    await clock.step(60 * SECOND);
    expect(publisher.sent.map(([, number]) => number)).toEqual([1, 2]);
    expect(await memory.find(idOf(2))).toMatchObject({ status: "delivered", failedAttempts: 0 });
    await end(run);
  });

  it("sends what was due first, first", async () => {
    const { clock, publisher, memory, save, end, runs } = setUp({
      workers: 2,
      respond: () => clock.sleep(SECOND),
    });
    await memory.transaction(async (tx) => {
      for (const number of range(20)) await memory.save(tx, sample(number), clock.now() - 1e6);
    });
    await save(range(20).map((number) => 100 + number));
    const run = runs();
    await clock.step(4_500);
    expect(publisher.sent.map(([, number]) => number)).toEqual(range(10));
    await clock.step(60 * SECOND);
    expect(await memory.counts()).toMatchObject({ delivered: 40 });
    await end(run);
  });

  it("reports a row that is not a message, and continues with the others", async () => {
    const store = new MemoryStore();
    const row = { id: idOf(9), problem: "payload: is not JSON" };
    const claim = store.claim.bind(store);
    let rows = [row];
    store.claim = async (request) => {
      const { claims } = await claim(request);
      const invalid = rows;
      rows = [];
      return { claims, invalid };
    };
    const errors: [object, string][] = [];
    const { clock, publisher, end, events, runs } = setUp({
      store,
      logger: { ...silentLogger, error: (...entry) => errors.push(entry) },
    });
    await store.transaction((tx) => store.save(tx, sample(1), clock.now() - 1e6));
    const run = runs();
    await clock.step(1);
    expect(events).toMatchObject([{ type: "invalid", row }, { type: "delivered" }]);
    expect(errors).toEqual([[row, "row is not a valid message; marked dead"]]);
    expect(publisher.sent).toEqual([[0, 1]]);
    await end(run);
  });

  it("claims for claimDuration on the wall clock", async () => {
    const { clock, memory, save, end, runs } = setUp({ claimDuration: 45 * SECOND });
    const claim = vi.spyOn(memory, "claim");
    await save([1]);
    const run = runs();
    await clock.step(SECOND);
    const [[request]] = claim.mock.calls as [[ClaimRequest]];
    expect(request).toMatchObject({ relay: "relay", until: request.now + 45 * SECOND });
    await end(run);
  });

  it("begins no attempt with a claim that ended while the machine was suspended", async () => {
    const { clock, publisher, memory, save, end, types, runs } = setUp({
      workers: 1,
      respond: () => clock.sleep(SECOND),
    });
    await save([1, 2]);
    const run = runs();
    await clock.step(500);
    // The monotonic clock and the timers stand still meanwhile. Another relay has sent the message.
    clock.setSystemTime(clock.now() + 3_600 * SECOND);
    const [held] = (await memory.expired(clock.now(), 9)).claims.filter(
      ({ message }) => message.id === idOf(2),
    );
    await memory.write([{ type: "released", claim: held as Claim }]);
    const again = await memory.claim({ relay: "b", now: clock.now(), until: 9e15, limit: 1 });
    await memory.write([{ type: "delivered", claim: again.claims[0] as Claim, now: clock.now() }]);
    await clock.step(60 * SECOND);
    expect(publisher.sent).toEqual([[0, 1]]);
    expect(types().sort()).toEqual(["delivered", "lost"]);
    await end(run);
  });

  it("starts an attempt that has exactly publishTimeout and clockSkew left", async () => {
    const { clock, publisher, save, end, types, runs } = setUp({
      workers: 1,
      claimDuration: 20 * SECOND,
      publishTimeout: 10 * SECOND,
      respond: () => clock.sleep(5 * SECOND),
    });
    await save([1, 2]);
    const run = runs();
    await clock.step(10 * SECOND);
    expect(publisher.sent).toEqual([
      [0, 1],
      [5 * SECOND, 2],
    ]);
    expect(types()).not.toContain("released");
    await end(run);
  });

  it("shows its state, its attempts and its outcomes without a response", async () => {
    const { clock, relay, save, stop, runs } = setUp({
      respond: () => clock.sleep(SECOND),
      faults: {
        before: async (request) => {
          if (request === "write") await clock.sleep(SECOND);
        },
      },
    });
    const idle = { held: [], attempts: 0, waiting: 0, unwritten: 0 };
    expect(relay.status()).toEqual({ ...idle, state: "new" });
    await save([1]);
    const run = runs();
    await clock.step(500);
    expect(relay.status()).toEqual({ ...idle, held: [], state: "running", attempts: 1 });
    await clock.step(SECOND);
    expect(relay.status()).toEqual({ ...idle, state: "running", unwritten: 1 });
    expect(clock.pending().map(({ label }) => label)).toContain("write");
    stop.abort();
    await clock.step(0);
    expect(relay.status()).toEqual({ ...idle, state: "stopping", unwritten: 1 });
    await clock.run(() => run);
    expect(relay.status()).toEqual({ ...idle, state: "stopped" });
  });

  it("continues when the hook throws, and logs the error", async () => {
    const errors: string[] = [];
    const { clock, memory, save, end, runs } = setUp({
      onEvent: ({ type }) => {
        if (type === "delivered") throw new Error("my mistake");
      },
      logger: { ...silentLogger, error: (_, message) => errors.push(message) },
    });
    const run = runs();
    await save([1, 2]);
    await clock.step(SECOND);
    expect(await memory.counts()).toMatchObject({ delivered: 2 });
    expect(errors).toEqual(["hook threw; ignored"]); // the second one is equal
    await end(run);
  });
});

it("does not send a confirmed message again when a logger throws", async () => {
  const { clock, publisher, save, end, types, runs } = setUp({
    logger: {
      ...silentLogger,
      debug: () => {
        throw new Error("disk full");
      },
    },
  });
  const run = runs();
  await save([1]);
  await clock.step(30 * SECOND);
  expect(publisher.sent).toHaveLength(1);
  expect(types()).toEqual(["delivered"]);
  await end(run);
});

describe("a relay that stops", () => {
  it("finishes attempts in flight, releases waiting messages, and leaves no timer", async () => {
    const { clock, publisher, memory, save, stop, types, runs } = setUp({
      workers: 2,
      grace: 1_500,
      respond: () => clock.sleep(SECOND),
    });
    const run = runs();
    await save(range(9));
    await clock.step(100);
    stop.abort();
    await clock.step(1_500);
    await run;
    expect(publisher.sent).toHaveLength(2);
    expect(types().sort()).toEqual(["delivered", "delivered", "released", "released"]);
    expect(await memory.counts()).toMatchObject({ delivered: 2, pending: 7 });
    expect((await memory.expired(clock.now() + 1e9, 99)).claims).toEqual([]);
    await clock.step(SECOND); // The sleeps of the publisher.
    expect(clock.waiters()).toBe(0);
  });

  it("releases messages that it was claiming", async () => {
    const { clock, publisher, memory, save, stop, types, runs } = setUp({
      grace: 0,
      faults: {
        after: async (request) => {
          if (request === "claim") await clock.sleep(3 * SECOND);
        },
      },
    });
    await save([1, 2]);
    const run = runs();
    await clock.step(SECOND);
    stop.abort();
    await clock.run(() => run);
    expect(types()).toEqual(["released", "released"]);
    expect(publisher.sent).toEqual([]);
    expect((await memory.expired(clock.now() + 1e9, 99)).claims).toEqual([]);
    expect(clock.waiters()).toBe(0);
  });

  it("abandons an outcome that cannot be written, and leaves no timer", async () => {
    const { clock, save, stop, types, runs } = setUp({
      grace: 2 * SECOND,
      storeTimeout: SECOND,
      faults: {
        before: (request) => {
          if (request === "write") throw new Error("connection refused");
        },
      },
    });
    const run = runs();
    await save([1]);
    await clock.step(SECOND);
    stop.abort();
    await clock.step(2 * SECOND);
    await clock.step(2 * SECOND); // Two requests.
    await run;
    expect(types().filter((type) => type !== "error")).toEqual(["unwritten"]);
    expect(clock.waiters()).toBe(0);
  });

  it("has the time in a manager that its grace and its last two requests take", async () => {
    const { clock, memory, relay, save, stop } = setUp({
      grace: 60 * SECOND,
      storeTimeout: SECOND,
      publishTimeout: 55 * SECOND,
      claimDuration: 120 * SECOND,
      respond: () => clock.sleep(50 * SECOND),
    });
    expect(relay.stopTimeout).toBe(62 * SECOND);
    await save([1]);
    const manager = new Manager({ clock, stopTimeout: 63 * SECOND, logger: silentLogger });
    manager.add(relay);
    const run = manager.run(stop.signal);
    await clock.step(SECOND);
    stop.abort();
    await clock.run(() => run);
    expect(await memory.find(idOf(1))).toMatchObject({ status: "delivered" });
    expect(clock.monotonic()).toBeGreaterThan(50 * SECOND);
  });

  it.each([
    ["in one group", ["all", "all"]],
    ["before it", ["relay", "controller"]],
    ["after it", ["controller", "relay"]],
  ])("ends within the 28 s of a manager beside a controller, %s", async (_, names) => {
    const { clock, relay, save, stop, types } = setUp({
      publishTimeout: 55 * SECOND,
      claimDuration: 120 * SECOND,
      respond: () => new Promise(() => {}),
    });
    expect(relay.stopTimeout).toBeGreaterThan(28 * SECOND);
    await save([1]);
    const groups = [...new Set(names)].map((name) => ({ name }));
    const manager = new Manager({ clock, groups, logger: silentLogger });
    const never = () => new Promise<void>(() => {});
    const controller = new Controller({
      ...{ name: "a", clock, logger: silentLogger, reconcile: never },
    });
    controller.add("key");
    manager.add(relay, { group: names.includes("relay") ? "relay" : "all" });
    manager.add(controller, { group: names.includes("controller") ? "controller" : "all" });
    const run = manager.run(stop.signal);
    await clock.step(SECOND);
    stop.abort();
    await clock.step(28 * SECOND);
    expect(manager.status().state).toBe("stopped");
    await run;
    expect(types()).toContain("released");
    expect(clock.waiters()).toBe(0);
  });

  it.each<[string, () => number]>([
    [
      "throws",
      () => {
        throw new RangeError("odd");
      },
    ],
    ["returns NaN", () => Number.NaN],
    ["returns less than 0", () => -1],
  ])("takes its own times, and reports it, if stopWithin %s", async (_, stopWithin) => {
    const { clock, relay, save, stop, types } = setUp({ respond: () => clock.sleep(10 * SECOND) });
    await save([1]);
    const run = relay.run(stop.signal, { stopWithin });
    await clock.step(SECOND);
    stop.abort();
    await clock.step(10 * SECOND);
    await run;
    expect(types()).toEqual(["error", "delivered"]);
    expect(clock.waiters()).toBe(0);
  });

  it("does not wait to write again after its grace", async () => {
    const { clock, save, stop, types, runs } = setUp({
      grace: 0,
      faults: {
        before: (request) => {
          if (request === "write") throw new Error("connection refused");
        },
      },
    });
    const run = runs();
    await save([1]);
    await clock.step(10); // The first write has failed, and the second comes after 100 ms.
    const stopped = clock.monotonic();
    stop.abort();
    await clock.run(() => run);
    expect([clock.monotonic() - stopped, types().at(-1)]).toEqual([0, "unwritten"]);
  });

  it("reports a claim that another relay has, when it is given back", async () => {
    const { clock, memory, save, stop, types, runs } = setUp({
      workers: 1,
      grace: SECOND,
      respond: () => clock.sleep(SECOND),
    });
    await save([1, 2]);
    const run = runs();
    await clock.step(100);
    vi.spyOn(memory, "write").mockImplementation(async (outcomes) => outcomes.map(() => false));
    stop.abort();
    await clock.run(() => run);
    expect(types()).toEqual(["lost", "lost"]);
  });

  it("counts a claim as unwritten while it is given back", async () => {
    const { clock, relay, save, stop, runs } = setUp({
      workers: 1,
      grace: SECOND,
      respond: () => clock.sleep(SECOND),
      faults: {
        before: async (request) => {
          if (request === "write") await clock.sleep(SECOND);
        },
      },
    });
    await save([1, 2]);
    const run = runs();
    await clock.step(100);
    stop.abort();
    await clock.step(0);
    expect(relay.status()).toEqual({
      held: [],
      state: "stopping",
      attempts: 1,
      waiting: 0,
      unwritten: 1,
    });
    await clock.run(() => run);
    expect(relay.status().unwritten).toBe(0);
  });

  it("reports a claim that could not be given back", async () => {
    const { clock, memory, save, stop, types, runs } = setUp({
      workers: 1,
      grace: 0,
      respond: () => clock.sleep(SECOND),
      faults: {
        before: (request) => {
          if (request === "write") throw new Error("connection refused");
        },
      },
    });
    await save([1]);
    const run = runs();
    await clock.step(100);
    stop.abort();
    await clock.run(() => run);
    expect(types()).toEqual(["unwritten"]);
    expect((await memory.expired(clock.now() + 1e9, 9)).claims).toHaveLength(1);
  });

  it("sends released messages after a restart", async () => {
    const first = setUp({ workers: 1, grace: 0, respond: () => new Promise(() => {}) });
    const { clock, memory } = first;
    const run = first.runs();
    await first.save([1, 2]);
    await clock.step(1);
    first.stop.abort();
    await clock.run(() => run);
    const publisher = new FakePublisher(clock);
    const again = new Relay({ name: "again", store: memory, publisher, clock });
    const stop = new AbortController();
    const runAgain = again.run(stop.signal);
    await clock.step(20 * SECOND);
    expect(publisher.sent.map(([, number]) => number)).toEqual([1, 2]);
    expect((await memory.find(idOf(1)))?.failedAttempts).toBe(0);
    stop.abort();
    await clock.run(() => runAgain);
    expect(clock.waiters()).toBe(0);
  });
});

describe("a store that does not respond", () => {
  it("at the start: everything is sent after it recovers", async () => {
    let isAway = true;
    const { clock, publisher, memory, save, end, events, runs } = setUp({
      faults: {
        before: () => {
          if (isAway) throw new Error("connection refused");
        },
      },
    });
    const run = runs();
    await save([1, 2, 3]);
    await clock.step(60 * SECOND);
    expect(publisher.sent).toEqual([]);
    expect(events.length).toBeGreaterThan(5);
    for (const event of events)
      expect(event).toEqual({ type: "error", error: new Error("connection refused") });
    isAway = false;
    await clock.step(10 * SECOND);
    expect(publisher.sent.map(([, number]) => number).sort()).toEqual([1, 2, 3]);
    expect(await memory.counts()).toMatchObject({ delivered: 3 });
    await end(run);
  });

  it("within the claim: keeps claimed messages, and counts no attempt", async () => {
    let slow = 1;
    const { clock, publisher, memory, save, end, types, runs } = setUp({
      ...{ storeTimeout: SECOND },
      faults: {
        after: async (request) => {
          if (request === "claim" && slow-- > 0) await clock.sleep(3 * SECOND);
        },
      },
    });
    const run = runs();
    await save([1]);
    await clock.step(10 * SECOND);
    expect(publisher.sent).toHaveLength(1);
    expect(types().filter((type) => type !== "error")).toEqual(["delivered"]);
    expect(await memory.find(idOf(1))).toMatchObject({ status: "delivered" });
    await end(run);
  });

  it("when an outcome is written: it is written after the store recovers", async () => {
    let isAway = true;
    const { clock, publisher, memory, save, end, types, runs } = setUp({
      faults: {
        before: (request) => {
          if (isAway && request === "write") throw new Error("connection reset");
        },
      },
    });
    const run = runs();
    await save([1]);
    await clock.step(8 * SECOND);
    isAway = false;
    await clock.step(10 * SECOND); // The longest wait between two writes, and its jitter.
    expect(publisher.sent).toHaveLength(1);
    expect(types().filter((type) => type !== "error")).toEqual(["delivered"]);
    expect(await memory.find(idOf(1))).toMatchObject({ status: "delivered" });
    await end(run);
  });

  it("with lost responses: an outcome counts once", async () => {
    let lost = 2;
    const { clock, publisher, memory, save, end, types, runs } = setUp({
      respond: fail,
      faults: {
        after: (request) => {
          if (request === "write" && lost-- > 0) throw new Error("connection reset");
        },
      },
    });
    const run = runs();
    await save([1], { maxAttempts: 2 });
    await clock.step(5 * SECOND);
    expect(types()).toEqual(["error", "error", "lost"]);
    expect(await memory.find(idOf(1))).toMatchObject({ status: "retrying", failedAttempts: 1 });
    await clock.step(10 * SECOND);
    // The writes come at odd moments; what is due is looked for less than 1 ms late.
    expect(publisher.sent.map(([at]) => Math.floor(at))).toEqual([0, 10 * SECOND]);
    await end(run);
  });

  it("for the length of a claim: reports it, and ends the wait", async () => {
    const { clock, save, end, types, runs } = setUp({
      faults: {
        before: async (request) => {
          if (request === "write") await new Promise(() => {});
        },
      },
    });
    const run = runs();
    await save([1]);
    await clock.step(70 * SECOND);
    expect(types().filter((type) => type !== "error")).toEqual(["unwritten"]);
    await end(run);
  });
});

describe("a topic whose receiver hangs", () => {
  /** Topics that begin with this never get a response. */
  const hangs: Respond = ({ topic }, signal) =>
    topic.startsWith("hung") ? new Promise(() => signal.throwIfAborted()) : undefined;
  /** Saves messages of topics, the first of them first. */
  const saveAll = async (
    { outbox }: Pick<ReturnType<typeof setUp>, "outbox">,
    topics: readonly string[],
    first = 1,
  ): Promise<void> => {
    await outbox.transaction(async (tx) => {
      for (const [i, topic] of topics.entries())
        await outbox.save(tx, sample(first + i, { topic }));
    });
  };
  const many = (topic: string, count = 300): string[] => range(count).map(() => topic);
  const arrivalOf = ({ publisher }: Pick<ReturnType<typeof setUp>, "publisher">, number: number) =>
    publisher.sent.find(([, sent]) => sent === number)?.[0];

  it.each([
    ["one, behind its backlog", ["hung"], 0],
    ["two", ["hung-1", "hung-2"], 0],
    ["three", ["hung-1", "hung-2", "hung-3"], 0],
  ])("does not keep another waiting: %s", async (_, hung, late) => {
    const world = setUp({ respond: hangs });
    const { clock, memory, end, runs } = world;
    await saveAll(world, ["healthy"]);
    const run = runs();
    await clock.step(SECOND);
    for (const [i, topic] of hung.entries()) await saveAll(world, many(topic), 1_000 * (i + 1));
    await clock.step(SECOND);
    await saveAll(world, ["healthy", "new"], 2);
    await clock.step(SECOND);
    expect([2, 3].map((number) => (arrivalOf(world, number) ?? Number.NaN) - 2 * SECOND)).toEqual([
      late,
      late,
    ]);
    await clock.step(1_800 * SECOND);
    await saveAll(world, many("healthy", 50), 4);
    await clock.step(SECOND);
    expect((await memory.counts()).delivered).toBe(53);
    await end(run);
  });

  it("lets a relay of one topic look beside it ten times a second", async () => {
    const looks: number[] = [];
    const world = setUp({
      respond: async (_, signal) => await world.clock.sleep(5, { signal }),
      onEvent: (event) => {
        if (event.type === "claimed" && event.count === 0)
          looks.push(world.clock.monotonic() - began);
      },
    });
    const { clock, memory, end, runs } = world;
    const began = clock.monotonic();
    await saveAll(world, many("busy", 1_000));
    const run = runs();
    await clock.step(350);
    expect((await memory.counts()).pending).toBeGreaterThan(0);
    expect(looks).toEqual([0, 100, 200, 300]);
    await end(run);
  });

  it("keeps a topic that nobody has seen waiting for one attempt at most", async () => {
    const world = setUp({ respond: hangs });
    const { clock, end, runs } = world;
    const run = runs();
    await saveAll(world, many("hung"));
    await clock.step(SECOND);
    await saveAll(world, ["new"], 1_000);
    await clock.step(600 * SECOND);
    expect(arrivalOf(world, 1_000)).toBe(15 * SECOND);
    await end(run);
  });

  it.each([["hung"], ["hung-1", "hung-2", "hung-3"]])(
    "does not keep another waiting that was faster before: %s",
    async (...hung) => {
      const world = setUp({ respond: hangs });
      const { clock, outbox, end, runs } = world;
      const run = runs();
      await saveAll(world, ["healthy", ...hung.flatMap((topic) => many(topic))], 10_000);
      await clock.step(SECOND);
      await saveAll(world, many("healthy", 200));
      for (let number = 1_001; number <= 1_100; number++) {
        await outbox.transaction((tx) => outbox.save(tx, sample(number, { topic: "healthy" })));
        await clock.step(SECOND);
      }
      const waits = range(100).map((i) => (arrivalOf(world, 1_000 + i) ?? Number.NaN) - i * SECOND);
      expect(Math.max(...waits)).toBeLessThanOrEqual(SECOND);
      await end(run);
    },
  );

  it("has as many workers as topicWorkers says", async () => {
    const world = setUp({ respond: hangs, workers: 6, topicWorkers: 4 });
    const { clock, relay, end, runs } = world;
    const run = runs();
    await saveAll(world, many("hung"));
    await clock.step(SECOND);
    expect(relay.status().attempts).toBe(4);
    await saveAll(world, ["new"], 1_000);
    await clock.step(SECOND);
    expect(arrivalOf(world, 1_000)).toBe(SECOND);
    await end(run);
  });

  it("makes a few requests a second, and no more", async () => {
    const requests: string[] = [];
    const world = setUp({ respond: hangs, faults: { before: (name) => void requests.push(name) } });
    const { clock, end, runs } = world;
    const run = runs();
    await saveAll(world, [...many("hung"), "healthy"]);
    await clock.step(60 * SECOND);
    expect(requests.length).toBeLessThan(5 * 60);
    await end(run);
  });
});

describe("a relay for some topics", () => {
  it("sends their messages, and leaves the others", async () => {
    const world = setUp({ topics: ["a", "b"] });
    const { clock, memory, publisher, outbox, end, runs } = world;
    await outbox.transaction(async (tx) => {
      for (const [i, topic] of ["a", "b", "c"].entries())
        await outbox.save(tx, sample(i + 1, { topic }));
    });
    const run = runs();
    await clock.step(60 * SECOND);
    expect(publisher.sent.map(([, number]) => number)).toEqual([1, 2]);
    expect(await memory.find(idOf(3))).toMatchObject({ status: "pending" });
    await end(run);
  });
});

describe("a relay with large messages", () => {
  it("holds at most 32 MiB of payloads and one message, and sends them all", async () => {
    let bytes = 0;
    let most = 0;
    const memory = new MemoryStore();
    const claim = memory.claim.bind(memory);
    memory.claim = async (request) => {
      const claimed = await claim(request);
      bytes += claimed.claims.length * 5;
      most = Math.max(most, bytes);
      return claimed;
    };
    const { clock, end, runs } = setUp({
      store: memory,
      respond: async () => {
        await clock.sleep(SECOND);
        bytes -= 5;
      },
    });
    const payload = "x".repeat(5 * 1_024 * 1_024);
    await memory.transaction(async (tx) => {
      for (const number of range(9))
        await memory.save(tx, sample(number, { payload }), clock.now());
    });
    const run = runs();
    await clock.step(60 * SECOND);
    expect(most).toBeLessThanOrEqual(32 + 5);
    expect(most).toBeGreaterThanOrEqual(10);
    expect(await memory.counts()).toMatchObject({ delivered: 9 });
    await end(run);
  });
});

describe("the clock of a relay", () => {
  it.each([
    [5_900, true],
    [6_100, false],
    [-12_000, false],
  ])(
    "that is ahead of the database's by %i ms is reported each minute",
    async (ahead, isTolerated) => {
      const warnings: [object, string][] = [];
      const memory = new MemoryStore();
      const store = Object.assign(memory, {
        async now(): Promise<number> {
          expect(this).toBe(memory);
          await clock.sleep(2 * SECOND);
          return clock.now() - SECOND - ahead; // In the middle of the round trip: it may be wrong by half of it.
        },
      });
      const { clock, events, end, runs } = setUp({
        store,
        logger: { ...silentLogger, warn: (...entry) => warnings.push(entry) },
      });
      const run = runs();
      await clock.step(65 * SECOND);
      expect(events).toEqual([1, 2].map(() => ({ type: "clock", ahead, isTolerated })));
      const text =
        "clock differs from that of the database by more than clockSkew; messages are late, or sent twice";
      expect(warnings).toEqual(isTolerated ? [] : [1, 2].map(() => [{ ahead }, text]));
      await end(run);
    },
  );

  it("is measured again after an error, which is reported", async () => {
    const error = new Error("the database is away");
    const store = Object.assign(new MemoryStore(), { now: () => Promise.reject(error) });
    const { clock, events, end, runs } = setUp({ store });
    const run = runs();
    await clock.step(61 * SECOND);
    expect(events).toEqual([1, 2].map(() => ({ type: "error", error })));
    await end(run);
  });
});

describe("several relays", () => {
  it("share the work; no message is processed by two of them", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore();
    const busy = new Set<number>();
    const publishers = range(3).map(
      () =>
        new FakePublisher(clock, async ({ id }) => {
          expect(busy.has(numberOf(id))).toBe(false);
          busy.add(numberOf(id));
          await clock.sleep(100);
          busy.delete(numberOf(id));
        }),
    );
    await store.transaction(async (tx) => {
      for (const number of range(300)) await store.save(tx, sample(number), clock.now() - 1e6);
    });
    const stop = new AbortController();
    const running = publishers.map((publisher, i) =>
      new Relay({ name: `relay-${i}`, store, publisher, clock }).run(stop.signal),
    );
    await clock.step(60_000);
    const sent = publishers.flatMap((publisher) => publisher.sent.map(([, number]) => number));
    expect(sent.sort((a, b) => a - b)).toEqual(range(300));
    for (const publisher of publishers) expect(publisher.sent.length).toBeGreaterThan(50);
    stop.abort();
    await clock.run(() => Promise.all(running));
    expect(clock.waiters()).toBe(0);
  });
});

describe("a relay of a store in order", () => {
  it("sends messages of one key one after the other, the next one at once", async () => {
    const store = new MemoryStore({ order: "key" });
    const { clock, publisher, end, runs, relay } = setUp({
      store,
      respond: async (_, signal) => await clock.sleep(100, { signal }),
    });
    const run = runs();
    await clock.step(SECOND);
    await store.transaction(async (tx) => {
      for (const number of range(4))
        await store.save(tx, sample(number, { key: number < 4 ? "a" : "b" }), clock.now());
    });
    relay.wake();
    await clock.step(SECOND);
    expect(publisher.sent).toEqual([
      [1_000, 1],
      [1_000, 4],
      [1_100, 2],
      [1_200, 3],
    ]);
    await end(run);
  });

  it("sends the next one when the previous one is dead", async () => {
    const store = new MemoryStore({ order: "key" });
    const respond: Respond = ({ id }) => {
      if (id === idOf(1)) throw new TerminalError("no such address");
    };
    const { clock, publisher, end, runs, relay } = setUp({ store, respond });
    const run = runs();
    await clock.step(SECOND);
    await store.transaction(async (tx) => {
      for (const number of range(2))
        await store.save(tx, sample(number, { key: "a" }), clock.now());
    });
    relay.wake();
    await clock.step(SECOND);
    expect(publisher.sent.map(([, number]) => number)).toEqual([1, 2]);
    await end(run);
  });
});

describe("a relay that listens", () => {
  it("sends messages of a process without a relay at once, and stops listening at its end", async () => {
    const { clock, memory, publisher, end, runs } = setUp();
    const elsewhere = new Outbox({
      store: memory,
      transaction: (work) => memory.transaction(work),
      clock,
    });
    const run = runs();
    await clock.step(SECOND);
    await elsewhere.transaction((tx) => elsewhere.save(tx, sample(1)));
    await clock.step(1);
    expect(publisher.sent).toEqual([[SECOND, 1]]);
    await end(run);
  });

  it("listens again after a lost connection, and reports it", async () => {
    let listens = 0;
    const faults: StoreFaults = {
      before: (request) => {
        if (request === "listen" && ++listens <= 3) throw new Error("connection lost");
      },
    };
    const { clock, end, runs, types } = setUp({ faults, random: () => 0 });
    const run = runs();
    await clock.step(0);
    expect(listens).toBe(1);
    await clock.step(7 * SECOND);
    expect([listens, types()]).toEqual([4, ["error", "error", "error"]]);
    await end(run);
  });

  it.each([
    ["10 s, and is silent", 10 * SECOND, false],
    ["30 s, and is silent", 30 * SECOND, false],
    ["3 s, and says that it listens", 3 * SECOND, true],
  ])("is deaf for a second each time when its connection lasts %s", async (_, lasts, says) => {
    const { clock, memory, stop, runs } = setUp({ random: () => 0 });
    const listened: number[] = [];
    memory.listen = async (onNotify, signal) => {
      listened.push(clock.monotonic() - start);
      if (says) onNotify();
      await clock.sleep(lasts, { signal });
      throw new Error("terminating connection due to idle-session timeout");
    };
    const start = clock.monotonic();
    const run = runs();
    await clock.step(5 * (lasts + SECOND) - 1);
    expect(listened).toEqual([0, 1, 2, 3, 4].map((time) => time * (lasts + SECOND)));
    stop.abort();
    await clock.run(() => run);
    expect(clock.waiters()).toBe(0);
  });

  it("is told once that it hears nothing, and polls from then on", async () => {
    const { clock, memory, events, publisher, end, runs } = setUp();
    const deaf = new TerminalError("LISTEN hears nothing");
    let listens = 0;
    memory.listen = async () => {
      listens++;
      throw deaf;
    };
    const run = runs();
    await clock.step(3_600 * SECOND);
    expect([listens, events.filter(({ type }) => type !== "clock")]).toEqual([
      1,
      [
        { type: "listening", isListening: false },
        { type: "error", error: deaf },
      ],
    ]);
    await memory.transaction((tx) => memory.save(tx, sample(1), clock.now()));
    await clock.step(5 * SECOND);
    expect(publisher.sent).toHaveLength(1);
    await end(run);
  });

  it("says when it listens, and when it no longer does", async () => {
    const { clock, memory, events, stop, runs } = setUp({ random: () => 0 });
    memory.listen = async (onNotify, signal) => {
      onNotify();
      onNotify();
      await clock.sleep(2 * SECOND, { signal });
      throw new Error("connection lost");
    };
    const run = runs();
    await clock.step(3 * SECOND);
    stop.abort();
    await clock.run(() => run);
    const told = events.map((event) =>
      event.type === "listening" ? event.isListening : event.type,
    );
    expect(told).toEqual([true, false, "error", true]);
  });

  it("abandons a store that does not stop listening within storeTimeout", async () => {
    const faults: StoreFaults = {
      before: (request) => (request === "listen" ? new Promise(() => {}) : undefined),
    };
    const { clock, stop, runs, types } = setUp({ faults, storeTimeout: 4 * SECOND });
    const run = runs();
    await clock.step(SECOND);
    stop.abort();
    const ended = run.then(() => clock.monotonic());
    const start = clock.monotonic();
    await clock.step(10 * SECOND);
    expect((await ended) - start).toBe(4 * SECOND);
    expect(types()).toEqual(["error"]);
    expect(clock.waiters()).toBe(0);
  });

  it("does not listen with listen: false", async () => {
    const requests: string[] = [];
    const faults: StoreFaults = { before: (request) => void requests.push(request) };
    const { clock, end, runs } = setUp({ faults, listen: false });
    const run = runs();
    await clock.step(SECOND);
    expect(requests).not.toContain("listen");
    await end(run);
  });
});

describe("a store that responds late", () => {
  it("never makes a relay claim more than twice its workers; the rest is released", async () => {
    const held: number[] = [];
    let late = true;
    const { clock, memory, relay, save, end, runs, types } = setUp({
      workers: 2,
      storeTimeout: SECOND,
      respond: async (_, signal) => await clock.sleep(3 * SECOND, { signal }),
      faults: {
        after: async (request) => {
          if (late && request === "claim") await clock.sleep(5 * SECOND);
        },
      },
    });
    await memory.transaction(async (tx) => {
      for (const number of range(40)) await memory.save(tx, sample(number), clock.now() - 1e6);
    });
    const run = runs();
    for (let i = 0; i < 200; i++) {
      if (i === 100) late = false;
      await clock.step(100);
      const { attempts, waiting } = relay.status();
      held.push(attempts + waiting);
    }
    expect(Math.max(...held)).toBe(4);
    expect(types()).toContain("released");
    await save([41]);
    await clock.step(300 * SECOND);
    expect(await memory.counts()).toEqual({ pending: 0, retrying: 0, delivered: 41, dead: 0 });
    await end(run);
  });

  it("begins with no late message after the abort, although a message was attempted alone meanwhile", async () => {
    let claims = 0;
    const { clock, memory, publisher, stop, runs } = setUp({
      storeTimeout: SECOND,
      respond: () => clock.sleep(8 * SECOND),
      faults: {
        after: async (request) => {
          if (request === "claim" && ++claims === 1) await clock.sleep(20 * SECOND);
        },
      },
    });
    await memory.transaction((tx) => memory.save(tx, sample(1), clock.now()));
    const now = clock.now();
    const [claim] = (await memory.claim({ relay: "dead", now, until: now, limit: 1 })).claims;
    const failure = { now, error: "expired", dueAt: now };
    await memory.recover(claim as Claim, failure, { name: "x", token: 1 });
    await memory.transaction((tx) => memory.save(tx, sample(2), clock.now()));
    const run = runs();
    await clock.step(6 * SECOND);
    stop.abort();
    await clock.step(20 * SECOND);
    await run;
    expect(publisher.sent).toEqual([[5 * SECOND, 1]]);
    expect(await memory.find(idOf(2))).toMatchObject({ status: "pending" });
    expect((await memory.expired(clock.now() + 1e9, 10)).claims).toEqual([]);
    expect(clock.waiters()).toBe(0);
  });

  it("receives late messages back after the end of the relay", async () => {
    const { clock, memory, stop, runs } = setUp({
      storeTimeout: SECOND,
      faults: {
        after: async (request) => {
          if (request === "claim") await clock.sleep(60 * SECOND);
        },
      },
    });
    await memory.transaction((tx) => memory.save(tx, sample(1), clock.now() - 1e6));
    const run = runs();
    await clock.step(SECOND / 2);
    stop.abort();
    await clock.step(10 * SECOND);
    await run;
    await clock.step(100 * SECOND);
    expect((await memory.expired(clock.now() + 1e9, 10)).claims).toEqual([]);
    expect(await memory.find(idOf(1))).toMatchObject({ status: "pending", expiredClaims: 0 });
  });
});

it.each<[string, Partial<RelayOptions>, RegExp]>([
  ["no name", { name: "" }, /options\.name/],
  ["no workers", { workers: 0 }, /options\.workers/],
  ["half a worker", { workers: 1.5 }, /options\.workers/],
  ["no time for an attempt", { publishTimeout: 0 }, /options\.publishTimeout/],
  ["a jitter below 0", { jitter: -0.1 }, /options\.jitter/],
  ["a poll that never comes", { pollInterval: Number.POSITIVE_INFINITY }, /options\.pollInterval/],
  ["a grace of NaN", { grace: Number.NaN }, /options\.grace/],
  ["claims that are too short", { claimDuration: 20_000 }, /options\.claimDuration must be above/],
])("refuses %s", (_, options, problem) => {
  expect(() => setUp(options)).toThrow(RangeError);
  expect(() => setUp(options)).toThrow(problem);
});

function fail(): never {
  throw new Error("unreachable");
}

function never(): never {
  throw new TerminalError("no such address");
}

function asks(seconds: number): Respond {
  return () => {
    throw new RetryAfterError(seconds * SECOND);
  };
}

function failsTwice(): Respond {
  let failures = 2;
  return () => {
    if (failures-- > 0) throw new Error("unreachable");
  };
}

it("refuses a second run, and stops listening with the first", async () => {
  const { clock, relay, stop, end, runs } = setUp();
  const run = runs();
  await clock.step(1);
  const listeners = abortListeners(stop.signal);
  await expect(relay.run(stop.signal)).rejects.toThrow("already run");
  expect(abortListeners(stop.signal)).toBe(listeners);
  await end(run);
});
