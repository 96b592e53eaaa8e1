import { FakeClock } from "@holdfast/clock/testing";
import { RetryAfterError, silentLogger, TerminalError } from "@holdfast/controller";
import type { Message, NewMessage, OutboxEvent, Publisher } from "@holdfast/outbox";
import {
  faultyStore,
  MemoryOutbox,
  type MemoryOutboxOptions,
  MemoryStore,
  RecordingPublisher,
} from "@holdfast/outbox/testing";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { Relay } from "../../src/relay/relay.ts";
import { idOf, numberOf, sample } from "../sample.ts";

const SECOND = 1_000;

type Respond = (message: Message, signal: AbortSignal) => Promise<void> | void;

const numbersOf = (messages: readonly Message[]): number[] =>
  messages.map(({ id }) => numberOf(id));

/** Sends batches, and records each call: its instant, and the numbers of its messages. */
class Batches implements Publisher {
  readonly calls: [number, number[]][] = [];
  readonly #clock: FakeClock;
  readonly #start: number;
  readonly #respond: Respond;

  constructor(clock: FakeClock, respond: Respond = () => {}) {
    this.#clock = clock;
    this.#start = clock.monotonic();
    this.#respond = respond;
  }

  publish(): Promise<void> {
    throw new Error("publish must not be called beside publishMany");
  }

  async publishMany(messages: readonly Message[], signal: AbortSignal) {
    this.calls.push([this.#clock.monotonic() - this.#start, numbersOf(messages)]);
    return await Promise.allSettled(messages.map(async (each) => this.#respond(each, signal)));
  }
}

/** An outbox in memory that runs, and records what it sends. */
function setUp(
  given: Partial<MemoryOutboxOptions> & {
    readonly respond?: Respond;
    readonly batches?: boolean;
  } = {},
) {
  const { respond, batches = false, ...options } = given;
  const clock = new FakeClock();
  const many = new Batches(clock, respond);
  const single = new RecordingPublisher({ clock, respond: respond ?? (() => {}) });
  const events: OutboxEvent[] = [];
  const outbox = new MemoryOutbox({
    name: "shop",
    publisher: batches ? many : single,
    clock,
    jitter: 0,
    random: () => 0.5,
    logger: silentLogger,
    onEvent: (event) => events.push(event),
    ...options,
  });
  const stop = new AbortController();
  const save = async (numbers: readonly number[], facts: Partial<NewMessage> = {}) =>
    await outbox.transaction(async (tx) => {
      for (const number of numbers) await outbox.save(tx, sample(number, facts));
    });
  return {
    clock,
    outbox,
    events,
    save,
    calls: many.calls,
    run: () => outbox.run(stop.signal),
    sent: () => single.attempts.map(({ at, message }) => [at, numberOf(message.id)]),
    find: async (number: number) => await outbox.store.find(idOf(number)),
    holds: () =>
      events.flatMap((event) => {
        const { type } = event;
        return type === "opened" || type === "closed" || type === "paused" || type === "resumed"
          ? [`${type} ${event.topic}`]
          : [];
      }),
    async end(running: Promise<void>): Promise<void> {
      stop.abort();
      await clock.run(() => running);
      expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
    },
  };
}

const range = (count: number, first = 1): number[] =>
  Array.from({ length: count }, (_, i) => first + i);
const down: Respond = () => {
  throw new Error("503");
};

describe("a publisher that takes batches", () => {
  it("gets the messages that wait, at most batchSize of one topic", async () => {
    const { clock, save, run, end, calls, outbox } = setUp({ batches: true, batchSize: 3 });
    await save(range(4), { topic: "a" });
    await save(range(2, 5), { topic: "b" });
    const running = run();
    await clock.step(SECOND);
    expect(calls.map(([, numbers]) => numbers)).toEqual([[1, 2, 3], [5, 6], [4]]);
    expect(await outbox.store.counts()).toMatchObject({ delivered: 6 });
    await end(running);
  });

  it("ends each message with its own outcome", async () => {
    const { clock, save, run, end, calls, find } = setUp({
      batches: true,
      respond: ({ id, failedAttempts }) => {
        if (numberOf(id) === 2 && failedAttempts === 0) throw new RetryAfterError(20 * SECOND);
        if (numberOf(id) === 3) throw new TerminalError("410 Gone");
      },
    });
    await save([1, 2, 3, 4]);
    const running = run();
    await clock.step(60 * SECOND);
    expect(calls).toEqual([
      [0, [1, 2, 3, 4]],
      [20 * SECOND, [2]],
    ]);
    expect((await find(2))?.status).toBe("delivered");
    expect(await find(3)).toMatchObject({ status: "dead", lastError: "TerminalError: 410 Gone" });
    await end(running);
  });

  it.each<[string, () => Promise<unknown>, string, number?]>([
    ["a rejection", () => Promise.reject(new Error("502")), "Error: 502"],
    [
      "a throw",
      () => {
        throw new Error("no route");
      },
      "Error: no route",
    ],
    [
      "no answer",
      () => new Promise(() => {}),
      "TimeoutError: timed out after 15000 ms",
      15 * SECOND,
    ],
    [
      "fewer outcomes",
      async () => [{ status: "fulfilled" }],
      "TypeError: publisher.publishMany must resolve with 2 outcomes as Promise.allSettled gives them, got 1 values",
    ],
    [
      "values",
      async () => [1, 2],
      "TypeError: publisher.publishMany must resolve with 2 outcomes as Promise.allSettled gives them, got 2 values",
    ],
    [
      "nothing",
      async () => undefined,
      "TypeError: publisher.publishMany must resolve with 2 outcomes as Promise.allSettled gives them, got undefined",
    ],
  ])("fails each message by %s", async (_, publishMany, lastError, at = 0) => {
    const publisher = { publish: async () => {}, publishMany: publishMany as never };
    const { clock, save, run, end, find } = setUp({ publisher });
    await save([1, 2]);
    const running = run();
    await clock.step(at + SECOND);
    for (const number of [1, 2])
      expect(await find(number)).toMatchObject({
        status: "retrying",
        failedAttempts: 1,
        lastError,
      });
    await end(running);
  });

  it("never has two messages of a key with order key, and sends the next when the first is delivered", async () => {
    const { clock, save, run, end, calls } = setUp({
      batches: true,
      order: "key",
      respond: ({ id, failedAttempts }) => {
        if (numberOf(id) === 1 && failedAttempts === 0) throw new Error("503");
      },
    });
    await save([1, 2], { key: "a" });
    await save([3, 4], { key: "b" });
    const running = run();
    await clock.step(60 * SECOND);
    expect(calls.map(([at, numbers]) => [Math.floor(at / SECOND), numbers])).toEqual([
      [0, [1, 3]],
      [0, [4]],
      [10, [1]],
      [10, [2]],
    ]);
    await end(running);
  });

  it("gives a batch back that is cut short by the end of grace, without an attempt", async () => {
    const { clock, save, run, end, find, events } = setUp({
      batches: true,
      grace: 5 * SECOND,
      respond: () => new Promise(() => {}),
    });
    await save([1, 2]);
    const running = run();
    await clock.step(SECOND);
    await end(running);
    for (const number of [1, 2])
      expect(await find(number)).toMatchObject({ status: "pending", failedAttempts: 0 });
    expect(events.filter(({ type }) => type === "released")).toHaveLength(2);
  });

  it("claims and sends 10,000 messages in full batches", async () => {
    const { clock, save, run, end, calls, outbox } = setUp({ batches: true });
    await save(range(10_000));
    const running = run();
    await clock.step(SECOND);
    expect(await outbox.store.counts()).toMatchObject({ delivered: 10_000 });
    expect(new Set(calls.map(([, numbers]) => numbers.length))).toEqual(new Set([100]));
    await end(running);
  });
});

describe("a paused topic", () => {
  it("is not sent until it is resumed, and spends no attempts", async () => {
    const { clock, outbox, save, run, end, sent, find, holds } = setUp();
    const running = run();
    await clock.step(SECOND);
    expect(await outbox.pause("a")).toBe(true);
    expect(await outbox.pause("a")).toBe(false);
    await clock.step(1);
    await save([1], { topic: "a" });
    await save([2], { topic: "b" });
    await clock.step(3_600 * SECOND);
    expect(sent()).toEqual([[SECOND + 1, 2]]);
    expect(await find(1)).toMatchObject({ status: "pending", failedAttempts: 0 });
    expect(outbox.status().held).toEqual([{ topic: "a", reason: "paused" }]);
    expect(await outbox.pausedTopics()).toEqual(["a"]);
    expect(await outbox.resume("a")).toBe(true);
    expect(await outbox.resume("a")).toBe(false);
    await clock.step(1);
    expect(sent()[1]).toEqual([3_601 * SECOND + 1, 1]);
    expect(outbox.status().held).toEqual([]);
    expect(holds()).toEqual(["paused a", "resumed a"]);
    await end(running);
  });

  it("is known before the first claim, and sends nothing while its list cannot be read", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore();
    await store.pause("a");
    await store.transaction(async (tx) => {
      await store.save(tx, sample(1, { topic: "a" }), clock.now());
      await store.save(tx, sample(2, { topic: "b" }), clock.now());
    });
    let isAway = true;
    const pausedTopics = store.pausedTopics.bind(store);
    store.pausedTopics = async () => {
      if (isAway) throw new Error("the database is away");
      return await pausedTopics();
    };
    const publisher = new RecordingPublisher({ clock });
    const stop = new AbortController();
    const relay = new Relay({ name: "r", store, publisher, clock, logger: silentLogger });
    const running = relay.run(stop.signal);
    await clock.step(10 * SECOND);
    expect(publisher.attempts).toEqual([]);
    isAway = false;
    await clock.step(10 * SECOND);
    expect(numbersOf(publisher.confirmed)).toEqual([2]);
    stop.abort();
    await clock.run(() => running);
  });

  it("is seen by a relay of another process within its pollInterval", async () => {
    const { clock, outbox, save, run, end, sent } = setUp();
    const running = run();
    await clock.step(SECOND);
    await outbox.store.pause?.("a", clock.now());
    await clock.step(4 * SECOND);
    await save([1], { topic: "a" });
    await clock.step(20 * SECOND);
    expect(sent()).toEqual([]);
    await outbox.store.resume?.("a");
    await clock.step(5 * SECOND);
    expect(sent()).toEqual([[30 * SECOND, 1]]);
    await end(running);
  });

  it("gives back its messages that wait for a worker, and lets those in flight end", async () => {
    const { clock, outbox, save, run, end, sent, find } = setUp({
      workers: 1,
      respond: () => clock.sleep(SECOND),
    });
    const running = run();
    await save([1, 2], { topic: "a" });
    await clock.step(500);
    expect(outbox.status()).toMatchObject({ attempts: 1, waiting: 1 });
    await outbox.pause("a");
    await clock.step(5 * SECOND);
    expect(outbox.status()).toMatchObject({ attempts: 0, waiting: 0 });
    expect(sent()).toEqual([[0, 1]]);
    expect((await find(1))?.status).toBe("delivered");
    expect(await find(2)).toMatchObject({ status: "pending", failedAttempts: 0, expiredClaims: 0 });
    await end(running);
  });

  it("gives back a message whose claim was under way", async () => {
    const clock = new FakeClock();
    const memory = new MemoryStore();
    await memory.transaction((tx) => memory.save(tx, sample(1, { topic: "a" }), clock.now()));
    const store = faultyStore(memory, {
      after: async (request) => {
        if (request === "claim") await clock.sleep(SECOND);
      },
    });
    const publisher = new RecordingPublisher({ clock });
    const stop = new AbortController();
    const relay = new Relay({ name: "r", store, publisher, clock, logger: silentLogger });
    const running = relay.run(stop.signal);
    await clock.step(500);
    await memory.pause("a");
    relay.lookForPaused();
    await clock.step(SECOND);
    expect(publisher.attempts).toEqual([]);
    expect(relay.status()).toMatchObject({ waiting: 0, unwritten: 0 });
    expect(await memory.nextDue()).toBeDefined();
    stop.abort();
    await clock.run(() => running);
  });

  it("does not delay a message of another topic, however many of its own wait", async () => {
    const { clock, outbox, save, run, end, sent } = setUp();
    await outbox.pause("a");
    await save(range(2_000), { topic: "a" });
    const running = run();
    for (let number = 5_000; number < 5_020; number++) {
      await clock.step(SECOND);
      await save([number], { topic: "b" });
    }
    await clock.step(SECOND);
    expect(sent()).toEqual(range(20).map((i) => [i * SECOND, 4_999 + i]));
    await end(running);
  });

  it("does not attempt a message alone whose claim has expired", async () => {
    const { clock, outbox, save, run, end, sent, events } = setUp();
    await save([1], { topic: "a" });
    const { store } = outbox;
    const { claims } = await store.claim({
      relay: "dead",
      now: clock.now(),
      until: clock.now(),
      limit: 1,
    });
    const [claim] = claims;
    if (claim === undefined) throw new Error("nothing was claimed");
    const failure = { now: clock.now(), error: "died", dueAt: clock.now() };
    await store.recover(claim, failure, { name: "f", token: 1 });
    await outbox.pause("a");
    const running = run();
    await clock.step(60 * SECOND);
    expect(sent()).toEqual([]);
    expect(events.filter(({ type }) => type === "released")).toEqual([]);
    await outbox.resume("a");
    await clock.step(10 * SECOND);
    expect(sent().map(([, number]) => number)).toEqual([1]);
    await end(running);
  });
});

describe("a breaker", () => {
  const breaker = { failures: 3, openFor: 60 * SECOND };

  it("holds the topic after failures, tries one message, and sends all once that is confirmed", async () => {
    let isDown = true;
    const { clock, outbox, save, run, end, sent, find, holds } = setUp({
      breaker,
      workers: 1,
      respond: (message, signal) => (isDown ? down(message, signal) : undefined),
    });
    const running = run();
    await save(range(10), { topic: "a" });
    await clock.step(2 * SECOND);
    expect(sent()).toEqual([1, 2, 3].map((number) => [0, number]));
    expect(outbox.status()).toMatchObject({ waiting: 0, held: [{ topic: "a", reason: "open" }] });
    await clock.step(57_999);
    expect(sent()).toHaveLength(3);
    await clock.step(1);
    expect(sent().slice(3)).toEqual([[60 * SECOND, 4]]);
    isDown = false;
    await clock.step(59_999);
    expect(sent()).toHaveLength(4);
    await clock.step(SECOND);
    expect(
      sent()
        .slice(4)
        .map(([at]) => at),
    ).toEqual(range(10).map(() => 120 * SECOND));
    expect(await outbox.backlog()).toEqual({ pending: 0, retrying: 0, dead: 0 });
    const failures = await Promise.all(range(10).map(async (n) => (await find(n))?.failedAttempts));
    expect(failures).toEqual([1, 1, 1, 1, 0, 0, 0, 0, 0, 0]);
    expect(holds()).toEqual(["opened a", "opened a", "closed a"]);
    expect(outbox.status().held).toEqual([]);
    await end(running);
  });

  it.each([3, 63])("tries one message exactly when openFor is over: %d s", async (seconds) => {
    const { clock, save, run, end, sent } = setUp({
      breaker: { failures: 3, openFor: seconds * SECOND },
      workers: 1,
      respond: down,
    });
    const running = run();
    await save(range(10), { topic: "a" });
    await clock.step(seconds * SECOND - 1);
    expect(sent()).toHaveLength(3);
    await clock.step(1);
    expect(sent().slice(3)).toEqual([[seconds * SECOND, 4]]);
    await end(running);
  });

  it("does not hold other topics", async () => {
    const { clock, save, run, end, sent } = setUp({
      breaker,
      respond: (message, signal) => (message.topic === "a" ? down(message, signal) : undefined),
    });
    const running = run();
    await save(range(100), { topic: "a" });
    await clock.step(SECOND);
    await save(range(50, 1_000), { topic: "b" });
    await clock.step(SECOND);
    expect(sent().filter(([, number]) => (number ?? 0) >= 1_000)).toHaveLength(50);
    await end(running);
  });

  it.each<[string, Respond, number]>([
    ["an error", down, 3],
    ["no answer", () => new Promise(() => {}), 3],
    [
      "a RetryAfterError",
      () => {
        throw new RetryAfterError(SECOND);
      },
      3,
    ],
    [
      "no TerminalError",
      () => {
        throw new TerminalError("410 Gone");
      },
      10,
    ],
  ])("counts %s", async (_, respond, attempts) => {
    const { clock, save, run, end, sent } = setUp({ breaker, workers: 1, respond });
    const running = run();
    await save(range(10), { topic: "a" });
    await clock.step(50 * SECOND);
    expect(sent()).toHaveLength(attempts);
    await end(running);
  });

  it("counts failures one after another: a confirmation begins anew, a refusal does not", async () => {
    const { clock, save, run, end, holds } = setUp({
      breaker,
      workers: 1,
      respond: ({ id }) => {
        const number = numberOf(id);
        if (number === 3) return;
        if (number === 5) throw new TerminalError("410 Gone");
        throw new Error("503");
      },
    });
    const running = run();
    await save(range(6), { topic: "a" });
    await clock.step(SECOND);
    expect(holds()).toEqual([]);
    await save([7], { topic: "a" });
    await clock.step(SECOND);
    expect(holds()).toEqual(["opened a"]);
    await end(running);
  });

  it("tries the next message when the first one tried is refused", async () => {
    const { clock, save, run, end, sent, holds } = setUp({
      breaker,
      workers: 1,
      respond: ({ id, failedAttempts }) => {
        const number = numberOf(id);
        if (number === 4) throw new TerminalError("410 Gone");
        if (number < 4 && failedAttempts === 0) throw new Error("503");
      },
    });
    const running = run();
    await save(range(5), { topic: "a" });
    await clock.step(61 * SECOND);
    expect(sent().slice(3, 5)).toEqual([
      [60 * SECOND, 4],
      [60 * SECOND, 5],
    ]);
    expect(holds()).toEqual(["opened a", "closed a"]);
    await end(running);
  });

  it("stays open when an attempt from before is confirmed", async () => {
    const { clock, save, run, end, holds } = setUp({
      breaker,
      respond: async ({ id }) => {
        if (numberOf(id) < 4) throw new Error("503");
        await clock.sleep(SECOND);
      },
    });
    const running = run();
    await save(range(4), { topic: "a" });
    await clock.step(2 * SECOND);
    expect(holds()).toEqual(["opened a"]);
    await end(running);
  });

  it("counts a batch once, as failed if none of it was confirmed, and tries one message of it", async () => {
    let isDown = true;
    const { clock, save, run, end, calls } = setUp({
      breaker,
      batches: true,
      batchSize: 10,
      workers: 1,
      respond: ({ id }) => {
        if (isDown && numberOf(id) > 10) throw new Error("503");
      },
    });
    const running = run();
    await save(range(60, 6), { topic: "a" });
    await clock.step(SECOND);
    expect(calls.map(([, numbers]) => numbers.length)).toEqual([10, 10, 10, 10]);
    isDown = false;
    await clock.step(60 * SECOND);
    expect(calls[4]?.[1]).toHaveLength(1);
    await end(running);
  });

  it("is off by default", async () => {
    const { clock, save, run, end, sent } = setUp({ respond: down });
    const running = run();
    await save(range(50), { topic: "a" });
    await clock.step(SECOND);
    expect(sent()).toHaveLength(50);
    await end(running);
  });

  it("adds the jitter of the relay, drawn by its random", async () => {
    const { clock, save, run, end, events } = setUp({
      breaker,
      jitter: 0.2,
      workers: 1,
      respond: down,
    });
    const running = run();
    await save(range(3), { topic: "a" });
    await clock.step(SECOND);
    expect(events.filter(({ type }) => type === "opened")).toEqual([
      { type: "opened", topic: "a", openFor: 66 * SECOND },
    ]);
    await end(running);
  });

  it("is stopped while open, and the messages are sent by the next process", async () => {
    const first = setUp({ breaker, respond: down });
    const running = first.run();
    await first.save(range(20), { topic: "a" });
    await first.clock.step(SECOND);
    await first.end(running);
    const { store } = first.outbox;
    const publisher = new RecordingPublisher({ clock: first.clock });
    const stop = new AbortController();
    const relay = new Relay({
      name: "r",
      store,
      publisher,
      clock: first.clock,
      logger: silentLogger,
    });
    const again = relay.run(stop.signal);
    await first.clock.step(60 * SECOND);
    expect(publisher.confirmed).toHaveLength(20);
    stop.abort();
    await first.clock.run(() => again);
  });
});

describe("the turns of topics", () => {
  it("alternate with one worker, whichever topic was claimed first", async () => {
    const { clock, save, run, end, sent } = setUp({
      workers: 1,
      respond: () => clock.sleep(SECOND),
    });
    const running = run();
    await save(range(5), { topic: "a" });
    await save([11, 12], { topic: "b" });
    await clock.step(10 * SECOND);
    expect(sent().map(([, number]) => number)).toEqual([1, 11, 2, 12, 3, 4, 5]);
    await end(running);
  });

  it("are limited by topicWorkers for the topics that it names", async () => {
    const { clock, outbox, save, run, end } = setUp({
      topicWorkers: { a: 2, __proto__: null } as never,
      respond: () => new Promise(() => {}),
    });
    const running = run();
    await save(range(20), { topic: "a" });
    await clock.step(SECOND);
    expect(outbox.status().attempts).toBe(2);
    await save(range(20, 100), { topic: "b" });
    await clock.step(SECOND);
    expect(outbox.status().attempts).toBe(6);
    await end(running);
  });
});
