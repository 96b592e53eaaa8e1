import {
  type Claim,
  type Claimed,
  type Failure,
  isStaleFenceError,
  type Message,
  type MessageOrder,
  type NewMessage,
  type OutboxStore,
} from "@holdfast/outbox";
import { beforeEach, describe, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { deliver, fail, release } from "../outcomes.ts";
import { idOf, numberOf, sample } from "../sample.ts";

/** A store that is tested, and what else it takes. */
export interface StoreUnderTest<Tx> {
  readonly store: OutboxStore<Tx>;
  transaction<Value>(work: (tx: Tx) => Promise<Value>): Promise<Value>;
}

const T = 1_700_000_000_000;

const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

const circular: Record<string, unknown> = {};
circular["self"] = circular;

interface BadMessage {
  readonly problem: string;
  readonly facts: object;
  readonly error: [name: string, message: string];
}

/** What is wrong with a message, and the name and the message of the error. */
const BAD_MESSAGES: readonly BadMessage[] = [
  {
    problem: "an id that is not a UUID",
    facts: { id: "7" },
    error: ["RangeError", "message.id must be a UUID"],
  },
  {
    problem: "an id that is not text",
    facts: { id: 7 },
    error: ["TypeError", "message.id must be a string, got 7"],
  },
  ...["topic", "key"].flatMap(
    (field) =>
      [
        {
          problem: `an empty ${field}`,
          facts: { [field]: "" },
          error: ["RangeError", `message.${field} must be a non-empty string, got ""`],
        },
        {
          problem: `a ${field} that is not text`,
          facts: { [field]: null },
          error: ["TypeError", `message.${field} must be a string, got null`],
        },
        {
          problem: `a ${field} of 256 bytes`,
          facts: { [field]: "ü".repeat(128) },
          error: ["RangeError", `message.${field} must be at most 255 bytes of UTF-8, got 256`],
        },
        {
          problem: `a ${field} with NUL`,
          facts: { [field]: "a\0b" },
          error: ["RangeError", `message.${field} must not contain NUL`],
        },
        {
          problem: `a ${field} with half a character`,
          facts: { [field]: "a\ud800b" },
          error: [
            "RangeError",
            `message.${field} must be well-formed Unicode, got a lone surrogate`,
          ],
        },
      ] satisfies BadMessage[],
  ),
  {
    problem: "headers that are not an object",
    facts: { headers: "a: b" },
    error: ["TypeError", "message.headers must be an object, got a string"],
  },
  {
    problem: "a header with a space in its name",
    facts: { headers: { "trace id": "1" } },
    error: ["RangeError", 'message.headers["trace…"] is not a valid header name'],
  },
  {
    problem: "a header with a line break",
    facts: { headers: { trace: "a\r\nb" } },
    error: [
      "RangeError",
      'message.headers["trace"] must contain only Latin-1 characters without control characters',
    ],
  },
  {
    problem: "a header twice",
    facts: { headers: { trace: "a", Trace: "b" } },
    error: [
      "RangeError",
      'message.headers["Trace"] must occur once, got it in upper and lower case',
    ],
  },
  {
    problem: "headers of 9 KB",
    facts: { headers: { trace: "x".repeat(9_000) } },
    error: ["RangeError", "message.headers must be at most 8192 bytes of UTF-8, got 9012"],
  },
  {
    problem: "no attempts",
    facts: { maxAttempts: 0 },
    error: ["RangeError", "message.maxAttempts must be a whole number of at least 1, got 0"],
  },
  {
    problem: "half an attempt",
    facts: { maxAttempts: 1.5 },
    error: ["RangeError", "message.maxAttempts must be a whole number of at least 1, got 1.5"],
  },
  {
    problem: "attempts without end",
    facts: { maxAttempts: Number.POSITIVE_INFINITY },
    error: ["RangeError", "message.maxAttempts must be a number from 1 to 1000000, got Infinity"],
  },
  {
    problem: "a negative wait",
    facts: { backoff: { duration: -1 } },
    error: [
      "RangeError",
      "message.backoff.duration must be a number from 0 to 3153600000000, got -1",
    ],
  },
  {
    problem: "a wait that is not a number",
    facts: { backoff: { duration: "10s" } },
    error: [
      "TypeError",
      'message.backoff.duration must be a number from 0 to 3153600000000, got "10s"',
    ],
  },
  {
    problem: "a factor below 1",
    facts: { backoff: { factor: 0.5 } },
    error: ["RangeError", "message.backoff.factor must be a finite number of at least 1, got 0.5"],
  },
  {
    problem: "a cap below the first wait",
    facts: { backoff: { duration: 10_000, cap: 5_000 } },
    error: [
      "RangeError",
      "message.backoff.cap must be at least message.backoff.duration, 10000, got 5000",
    ],
  },
  {
    problem: "no time at all",
    facts: { maxAge: 0 },
    error: ["RangeError", "message.maxAge must be a number above 0, got 0"],
  },
  ...[undefined, () => 1, Symbol("s"), 1n, circular].map(
    (payload) =>
      ({
        problem: `a payload that JSON cannot express: ${typeof payload}`,
        facts: { payload },
        error: ["RangeError", "message.payload must be a JSON value"],
      }) satisfies BadMessage,
  ),
  {
    problem: "a payload of 20 MB",
    facts: { payload: "x".repeat(20_000_000) },
    error: ["RangeError", "message.payload must be at most 8388608 bytes of UTF-8, got 20000002"],
  },
];
/** Duration of a claim. */
const CLAIM = 30_000;

/** What every store must do; `empty` gives one without messages. */
export function testStore<Tx>(
  name: string,
  empty: (options: { order: MessageOrder }) => Promise<StoreUnderTest<Tx>>,
): void {
  describe(name, () => {
    let store: OutboxStore<Tx>;
    let transaction: StoreUnderTest<Tx>["transaction"];

    beforeEach(async () => {
      ({ store, transaction } = await empty({ order: "none" }));
    });

    const save = async (count: number, facts = {}): Promise<Message[]> =>
      await transaction(async (tx) => {
        const saved: Message[] = [];
        for (let i = 1; i <= count; i++) saved.push(await store.save(tx, sample(i, facts), T + i));
        return saved;
      });
    const claim = (now: number, limit = 10, relay = "a"): Promise<Claimed> =>
      store.claim({ relay, now, until: now + CLAIM, limit });
    const failure = (now: number, dueAt: number | undefined): Failure => ({
      now,
      error: "unreachable",
      dueAt,
    });
    const only = ({ claims }: Claimed): Claim => {
      expect(claims).toHaveLength(1);
      return claims[0] as Claim;
    };
    const numbersOf = ({ claims }: Claimed): number[] =>
      claims.map(({ message }) => numberOf(message.id));
    const fence = { name: "x", token: 1 };

    it("keeps a message as it was saved, and returns it with a claim", async () => {
      const facts = {
        maxAttempts: 7,
        backoff: { duration: 1_500.5, factor: 1.5, cap: 60_000.5 },
        headers: { trace: "00-\u00fc", "X-Tenant": "7" },
        payload: { text: 'quote " and \\ and \u0000', list: [1, null, { deep: true }] },
      };
      const [message] = await save(1, { ...facts, maxAge: 86_400_000 });
      const expected: Message = {
        id: idOf(1),
        topic: "orders.paid",
        key: "order-1",
        ...facts,
        status: "pending",
        createdAt: T + 1,
        updatedAt: T + 1,
        dueAt: T + 1,
        failedAttempts: 0,
        expiredClaims: 0,
        lastError: undefined,
        expiresAt: T + 1 + 86_400_000,
      };
      expect(message).toEqual(expected);
      expect(await store.find(idOf(1))).toEqual(expected);
      expect(await claim(T + 1)).toEqual({
        claims: [{ message: expected, relay: "a", number: 1, until: T + 1 + CLAIM }],
        invalid: [],
      });
    });

    it("takes the maximum age from a message that is replayed", async () => {
      await save(1, { maxAge: 1_000 });
      const { claims } = await claim(T + 1);
      const failure = { now: T + 2, error: "down", dueAt: undefined };
      await store.write(claims.map((each) => ({ type: "failed", claim: each, failure })));
      expect(await store.find(idOf(1))).toMatchObject({ status: "dead", expiresAt: T + 1_001 });
      expect(await store.replay("all", T + 3)).toBe(1);
      expect(await store.find(idOf(1))).toMatchObject({ status: "pending", expiresAt: undefined });
    });

    it("has no message whose transaction was rolled back", async () => {
      const failed = transaction(async (tx) => {
        await store.save(tx, sample(1), T);
        throw new Error("no stock");
      });
      await expect(failed).rejects.toThrow("no stock");
      expect(await store.find(idOf(1))).toBeUndefined();
      expect((await claim(T + 9)).claims).toEqual([]);
      expect(await store.nextDue()).toBeUndefined();
    });

    it("refuses an existing id, and the transaction continues", async () => {
      await save(1);
      await transaction(async (tx) => {
        await expect(store.save(tx, sample(1), T)).rejects.toThrow(
          new RangeError(`message.id must be new, got ${idOf(1)}`),
        );
        await store.save(tx, sample(2), T);
      });
      expect(await store.counts()).toEqual({ pending: 2, retrying: 0, delivered: 0, dead: 0 });
    });

    describe.each(BAD_MESSAGES)("refuses $problem", ({ facts, error }) => {
      it("by name, and the transaction continues", async () => {
        const bad = { ...sample(1), ...facts } as NewMessage;
        await transaction(async (tx) => {
          const failed = (await errorOf(store.save(tx, bad, T))) as Error;
          expect([failed.name, failed.message]).toEqual(error);
          await store.save(tx, sample(2), T);
        });
        expect(await store.counts()).toEqual({ pending: 1, retrying: 0, delivered: 0, dead: 0 });
      });
    });

    it("keeps the longest names and the largest headers and payload as they are", async () => {
      const longest = `${"ü".repeat(127)}x`; // 255 bytes
      const facts = {
        topic: longest,
        key: longest,
        headers: { trace: "x".repeat(8 * 1_024 - 12) },
        payload: "é".repeat(4 * 1_024 * 1_024 - 1), // 8 MiB with its quotes
      };
      await save(1, facts);
      expect(await store.find(idOf(1))).toMatchObject(facts);
      expect(only(await claim(T + 9)).message).toMatchObject(facts);
    });

    it("keeps the payload as JSON", async () => {
      const payload = {
        at: new Date(T),
        none: undefined,
        own: { toJSON: () => "it" },
        half: "\ud800",
      };
      const [saved] = await save(1, { payload });
      const kept = { at: new Date(T).toISOString(), own: "it", half: "\ud800" };
      expect(saved?.payload).toEqual(kept);
      expect((await store.find(idOf(1)))?.payload).toEqual(kept);
    });

    it("makes an id for a message without one", async () => {
      const [first, second] = await transaction(async (tx) => [
        await store.save(tx, sample(1, { id: undefined }), T),
        await store.save(tx, sample(1, { id: undefined }), T),
      ]);
      expect(first?.id).not.toBe(second?.id);
      expect(await store.find(first?.id ?? "")).toEqual(first);
    });

    it("makes a saved message due at once", async () => {
      await save(1);
      expect(await store.nextDue()).toBe(T + 1);
      expect((await claim(T)).claims).toEqual([]);
      expect(only(await claim(T + 1)).message.id).toBe(idOf(1));
      expect(await store.nextDue()).toBeUndefined();
    });

    it("makes a message due at once that a clock far ahead has saved or replayed", async () => {
      if (store.now === undefined) return; // It has no clock of its own.
      const now = await store.now();
      expect(Math.abs(now - Date.now())).toBeLessThan(60_000);
      const ahead = Math.floor(now) + 3_600_000;
      await transaction((tx) => store.save(tx, sample(1), ahead));
      expect(await store.nextDue()).toBeLessThanOrEqual((await store.now()) + 1);
      const held = only(await claim((await store.now()) + 1));
      await fail(store, held, failure(T, undefined));
      await store.replay("all", ahead);
      expect(await store.nextDue()).toBeLessThanOrEqual((await store.now()) + 1);
      expect(await store.find(idOf(1))).toMatchObject({ createdAt: ahead, updatedAt: ahead });
    });

    it("claims due messages, the earliest first, up to the limit", async () => {
      await save(5);
      expect(numbersOf(await claim(T + 4, 3))).toEqual([1, 2, 3]); // The fifth is not due.
      expect(numbersOf(await claim(T + 4, 3))).toEqual([4]);
      expect((await claim(T + 4, 3)).claims).toEqual([]);
      expect(await store.nextDue()).toBe(T + 5);
    });

    it("gives each message to one of many simultaneous claims", async () => {
      await save(20);
      const relays = ["a", "b", "c", "d"];
      const all = await Promise.all(relays.map((relay) => claim(T + 60_000, 7, relay)));
      const ids = all.flatMap(({ claims }) => claims.map(({ message }) => message.id));
      expect(ids.sort()).toEqual(Array.from({ length: 20 }, (_, i) => idOf(i + 1)));
    });

    it("finds messages of any age", async () => {
      await save(1);
      expect(only(await claim(T + 20 * 365 * 86_400_000)).message.id).toBe(idOf(1));
    });

    it("ignores a delivered message", async () => {
      await save(1);
      expect(await deliver(store, only(await claim(T + 1)), T + 5)).toBe(true);
      expect(await store.find(idOf(1))).toMatchObject({
        status: "delivered",
        dueAt: undefined,
        lastError: undefined,
        updatedAt: T + 5,
        failedAttempts: 0,
      });
      expect((await claim(T + 1e9)).claims).toEqual([]);
      expect(await store.nextDue()).toBeUndefined();
      expect(await store.expired(T + 1e9, 10)).toEqual({ claims: [], invalid: [] });
    });

    it("counts a failure, stores its error, and is due again at its time", async () => {
      await save(1);
      expect(await fail(store, only(await claim(T + 1)), failure(T + 5, T + 20_005))).toBe(true);
      expect(await store.find(idOf(1))).toMatchObject({
        status: "retrying",
        failedAttempts: 1,
        dueAt: T + 20_005,
        lastError: "unreachable",
        updatedAt: T + 5,
      });
      expect((await claim(T + 20_004)).claims).toEqual([]);
      expect(only(await claim(T + 20_005)).number).toBe(2);
    });

    it("counts a failure once that is written twice", async () => {
      await save(1);
      const held = only(await claim(T + 1));
      expect(await fail(store, held, failure(T, T + 9))).toBe(true);
      expect(await fail(store, held, failure(T, T + 9))).toBe(false);
      expect((await store.find(idOf(1)))?.failedAttempts).toBe(1);
    });

    it("writes many outcomes together, each as if it were alone", async () => {
      await save(6);
      const { claims } = await claim(T + 9);
      const [first, second, third, fourth, old] = claims as [Claim, Claim, Claim, Claim, Claim];
      await release(store, old);
      await claim(T + 9); // Another relay has the fifth now.
      expect(
        await store.write([
          { type: "failed", claim: fourth, failure: failure(T + 7, undefined) },
          { type: "delivered", claim: first, now: T + 5 },
          { type: "released", claim: third },
          { type: "delivered", claim: old, now: T + 6 },
          { type: "failed", claim: second, failure: failure(T + 6, T + 99) },
        ]),
      ).toEqual([true, true, true, false, true]);
      expect(await Promise.all([1, 2, 3, 4, 5].map((n) => store.find(idOf(n))))).toMatchObject([
        { status: "delivered", updatedAt: T + 5, lastError: undefined },
        { status: "retrying", updatedAt: T + 6, dueAt: T + 99, failedAttempts: 1 },
        { status: "pending", updatedAt: T + 3, dueAt: T + 3, failedAttempts: 0 },
        { status: "dead", updatedAt: T + 7, dueAt: undefined, lastError: "unreachable" },
        { status: "pending", updatedAt: T + 5 },
      ]);
      expect(numbersOf(await claim(T + 50))).toEqual([3]);
    });

    it("writes no outcomes", async () => {
      expect(await store.write([])).toEqual([]);
    });

    it("rejects writes with an older claim", async () => {
      await save(1);
      const old = only(await claim(T + 1));
      expect(await store.recover(old, failure(T, T + 9), fence)).toBe(true);
      const newer = only(await claim(T + 9, 10, "b"));
      expect(await deliver(store, old, T)).toBe(false);
      expect(await fail(store, old, failure(T, undefined))).toBe(false);
      expect(await release(store, old)).toBe(false);
      expect(await store.recover(old, failure(T, undefined), fence)).toBe(false);
      expect((await store.find(idOf(1)))?.status).toBe("pending");
      expect(await deliver(store, newer, T)).toBe(true);
    });

    it("accepts a late delivery until the message is claimed again", async () => {
      await save(1);
      const held = only(await claim(T + 1));
      await store.recover(held, failure(T, T + 9), fence);
      expect(await deliver(store, held, T)).toBe(true);
      expect((await claim(T + 1e9)).claims).toEqual([]);
    });

    it("is due as before after a released claim, and counts no failure", async () => {
      await save(1);
      const before = await store.find(idOf(1));
      const held = only(await claim(T + 1));
      expect(await release(store, held)).toBe(true);
      expect(await release(store, held)).toBe(false);
      expect(await store.find(idOf(1))).toEqual(before);
      expect(only(await claim(T + 1)).number).toBe(2);
    });

    it("claims those of some topics, or of all but some", async () => {
      await transaction(async (tx) => {
        for (const [i, topic] of ["a", "b", "a", "c"].entries())
          await store.save(tx, sample(i + 1, { topic }), T + i + 1);
      });
      const due = { relay: "a", now: T + 9, until: T + CLAIM, limit: 9 };
      const { signal } = new AbortController();
      expect(await store.nextDue(signal, { exceptTopics: ["a"] })).toBe(T + 2);
      expect(await store.nextDue(signal, { topics: ["c", "b"], exceptTopics: ["b"] })).toBe(T + 4);
      expect(await store.nextDue(signal, { topics: [] })).toBeUndefined();
      expect(numbersOf(await store.claim({ ...due, topics: [] }))).toEqual([]);
      expect(numbersOf(await store.claim({ ...due, topics: ["c", "d", "e"] }))).toEqual([4]);
      expect(numbersOf(await store.claim({ ...due, exceptTopics: ["a", "c", "d"] }))).toEqual([2]);
      expect(numbersOf(await store.claim({ ...due, topics: ["a"], limit: 1 }))).toEqual([1]);
      expect(numbersOf(await store.claim({ ...due, exceptTopics: [] }))).toEqual([3]);
    });

    it("claims as many bytes as it is asked for, and always one message", async () => {
      await save(4, { payload: "x".repeat(98) }); // 100 bytes
      const due = { relay: "a", now: T + 9, until: T + CLAIM, limit: 9 };
      expect(numbersOf(await store.claim({ ...due, maxBytes: 1 }))).toEqual([1]);
      expect(numbersOf(await store.claim({ ...due, maxBytes: 200 }))).toEqual([2, 3]);
      expect(numbersOf(await store.claim({ ...due, maxBytes: 199 }))).toEqual([4]);
    });

    it("claims those with an expired claim, or those without one", async () => {
      await save(3);
      const first = only(await claim(T + 1));
      await store.recover(first, failure(T + 2, T + 2), fence);
      const due = { relay: "a", now: T + 9, until: T + CLAIM, limit: 9 };
      const { signal } = new AbortController();
      expect(await store.nextDue(signal, { hasExpired: false })).toBe(T + 2);
      expect(numbersOf(await store.claim({ ...due, hasExpired: false }))).toEqual([2, 3]);
      expect(await store.nextDue(signal, { hasExpired: false })).toBeUndefined();
      expect(await store.nextDue(signal, { hasExpired: true })).toBe(T + 2);
      expect(numbersOf(await store.claim({ ...due, hasExpired: true }))).toEqual([1]);
    });

    it("lists expired claims, the earliest first, until they are recovered", async () => {
      await save(3);
      await store.claim({ relay: "b", now: T + 1, until: T + 10, limit: 1 });
      await claim(T + 3);
      expect((await store.expired(T + 9, 10)).claims).toEqual([]);
      expect((await store.expired(T + 3 + CLAIM, 2)).claims[0]).toMatchObject({
        message: { id: idOf(1) },
        relay: "b",
        number: 1,
        until: T + 10,
      });
      expect((await store.expired(T + 3 + CLAIM, 2)).claims).toHaveLength(2);
      const { claims } = await store.expired(T + 3 + CLAIM, 10);
      expect(claims).toHaveLength(3);
      for (const each of claims) await store.recover(each, failure(T, T + 99), fence);
      expect((await store.expired(T + 1e9, 10)).claims).toEqual([]);
      expect((await claim(T + 99)).claims).toHaveLength(3);
    });

    it("rejects a token that is not the newest, for each name separately", async () => {
      await save(3);
      const [first, second, third] = (await claim(T + 9)).claims as [Claim, Claim, Claim];
      const write = (held: Claim, name: string, token: number): Promise<unknown> =>
        store.recover(held, failure(T, T + 9), { name, token }).catch((error) => error);
      expect(await write(first, "x", 3)).toBe(true);
      expect(await write(second, "x", 2)).toSatisfy(isStaleFenceError);
      expect((await store.find(idOf(2)))?.expiredClaims).toBe(0);
      expect(await write(second, "x", 3)).toBe(true);
      expect(await write(third, "y", 0)).toBe(true);
    });

    it("counts an expired claim, and no failed attempt", async () => {
      await save(1);
      const held = only(await claim(T + 1));
      expect(await store.recover(held, failure(T + 5, T + 9), fence)).toBe(true);
      expect(await store.find(idOf(1))).toMatchObject({
        status: "pending",
        failedAttempts: 0,
        expiredClaims: 1,
        dueAt: T + 9,
        lastError: "unreachable",
        updatedAt: T + 5,
      });
      const again = only(await claim(T + 9));
      expect(again.message.expiredClaims).toBe(1);
      expect(await store.recover(again, failure(T, undefined), fence)).toBe(true);
      expect(await store.find(idOf(1))).toMatchObject({ status: "dead", expiredClaims: 2 });
      await store.replay("all", T);
      expect(await store.find(idOf(1))).toMatchObject({ status: "pending", expiredClaims: 0 });
    });

    it("removes messages delivered before an instant, the oldest first, up to the limit", async () => {
      await save(5);
      const { claims } = await claim(T + 9);
      for (const [i, held] of claims.slice(0, 4).entries()) await deliver(store, held, T + i);
      expect(await store.removeDelivered(T + 3, 2)).toBe(2);
      expect(await Promise.all([1, 2, 3].map((n) => store.find(idOf(n))))).toMatchObject([
        undefined,
        undefined,
        { status: "delivered" },
      ]);
      expect(await store.removeDelivered(T + 3, 2)).toBe(1);
      expect(await store.removeDelivered(T + 3, 2)).toBe(0);
      expect(await store.counts()).toEqual({ pending: 1, retrying: 0, delivered: 1, dead: 0 });
    });

    it("counts messages that are not delivered", async () => {
      await save(4);
      const [first, second, third] = (await claim(T + 3)).claims as [Claim, Claim, Claim];
      await deliver(store, first, T);
      await fail(store, second, failure(T, T + 9));
      await fail(store, third, failure(T, undefined));
      expect(await store.backlog()).toEqual({ pending: 1, retrying: 1, dead: 1 });
    });

    it("tells what has happened in each topic, in slots of ten seconds", async () => {
      await transaction(async (tx) => {
        for (let number = 1; number <= 7; number++)
          await store.save(tx, sample(number, { topic: number < 6 ? "a" : "b " }), T + number);
      });
      const [one, two, three, four] = (await claim(T + 4)).claims as Claim[];
      await deliver(store, one as Claim, T + 20_000);
      await deliver(store, two as Claim, T + 29_999);
      await fail(store, three as Claim, failure(T + 30_000, T + 1e6));
      await fail(store, four as Claim, failure(T + 9_999, undefined));
      const activity = async (since: number) => {
        const found = await store.activity?.(since);
        return found?.map(({ topic, status, slot, count, oldest, isCut }) => {
          expect(isCut).toBe(false);
          return [topic, status, slot === undefined ? undefined : slot - T, count, oldest - T];
        });
      };
      const waiting = [
        ["a", "pending", 0, 1, 5],
        ["b ", "pending", 0, 2, 6],
      ];
      const retrying = ["a", "retrying", 30_000, 1, 3];
      const all = [["a", "dead", 0, 1, 4], ["a", "delivered", 20_000, 2, 1], ...waiting, retrying];
      expect((await activity(T))?.sort(byText)).toEqual(all.sort(byText));
      const later = [
        ["a", "dead", undefined, 1, 4],
        ...waiting.map(([topic, status, , ...rest]) => [topic, status, undefined, ...rest]),
        retrying,
      ];
      expect((await activity(T + 30_000))?.sort(byText)).toEqual(later.sort(byText));
    });

    it("finds a message by its id in any case, and none by an invalid UUID", async () => {
      await save(1);
      expect((await store.find(idOf(1).toUpperCase()))?.id).toBe(idOf(1));
      expect(await store.find("7")).toBeUndefined();
    });

    describe("with dead letters", () => {
      const lettersOf = async (
        page: Partial<Parameters<typeof store.deadLetters>[0]> = {},
      ): Promise<number[]> => {
        const letters = await store.deadLetters({
          topic: undefined,
          after: undefined,
          limit: 9,
          ...page,
        });
        return letters.map(({ id }) => numberOf(id));
      };

      /** Five: the odd ones of topic "a", the even ones of topic "b". The last died first, two at once. */
      beforeEach(async () => {
        await transaction(async (tx) => {
          for (let i = 1; i <= 6; i++)
            await store.save(tx, sample(i, { topic: i % 2 === 1 ? "a" : "b" }), T + i);
        });
        for (const held of (await claim(T + 5)).claims) {
          const number = numberOf(held.message.id);
          await fail(store, held, failure(T + (number === 2 ? 99 : 100 - number), undefined));
        }
      });

      it("lists them by the instant of their death, in pages", async () => {
        expect(await lettersOf()).toEqual([5, 4, 3, 1, 2]);
        expect(await lettersOf({ limit: 2 })).toEqual([5, 4]);
        const after = async (number: number) => {
          const letter = await store.find(idOf(number));
          return { id: idOf(number), updatedAt: letter?.updatedAt ?? 0 };
        };
        expect(await lettersOf({ after: await after(4), limit: 2 })).toEqual([3, 1]);
        expect(await lettersOf({ after: await after(1) })).toEqual([2]);
        expect(await lettersOf({ after: await after(2) })).toEqual([]);
      });

      it("lists those of a topic", async () => {
        expect(await lettersOf({ topic: "a" })).toEqual([5, 3, 1]);
        expect(await lettersOf({ topic: "a", after: { id: idOf(5), updatedAt: T + 95 } })).toEqual([
          3, 1,
        ]);
        expect(await lettersOf({ topic: "c" })).toEqual([]);
      });

      it("lists each with its fields", async () => {
        const [first] = await store.deadLetters({ topic: undefined, after: undefined, limit: 1 });
        expect(first).toEqual(await store.find(idOf(5)));
        expect(first).toMatchObject({ status: "dead", lastError: "unreachable" });
      });

      it("replays some by their ids, with all their attempts", async () => {
        expect((await claim(T + 5)).claims).toEqual([]);
        const ids = [idOf(2), idOf(2), idOf(6), idOf(7)]; // 6 is pending, 7 does not exist.
        expect(await store.replay({ ids }, T + 300)).toBe(1);
        expect(await store.find(idOf(2))).toMatchObject({
          status: "pending",
          failedAttempts: 0,
          dueAt: T + 300,
          updatedAt: T + 300,
          lastError: "unreachable",
        });
        expect(numbersOf(await claim(T + 300))).toEqual([6, 2]);
        expect(await lettersOf()).toEqual([5, 4, 3, 1]);
      });

      it("replays those of a topic, or all", async () => {
        expect(await store.replay({ topic: "b" }, T)).toBe(2);
        expect(await lettersOf()).toEqual([5, 3, 1]);
        expect(await store.replay("all", T)).toBe(3);
        expect(await store.counts()).toEqual({ pending: 6, retrying: 0, delivered: 0, dead: 0 });
      });

      it("discards some by their ids, those of a topic, or all", async () => {
        expect(await store.discard({ ids: [idOf(3), idOf(6)] })).toBe(1);
        expect(await store.discard({ topic: "b" })).toBe(2);
        expect(await lettersOf()).toEqual([5, 1]);
        expect(await store.discard("all")).toBe(2);
        expect(await store.find(idOf(5))).toBeUndefined();
        expect(await store.counts()).toEqual({ pending: 1, retrying: 0, delivered: 0, dead: 0 });
      });

      it("selects none by an empty list", async () => {
        expect(await store.replay({ ids: [] }, T)).toBe(0);
        expect(await store.discard({ ids: [] })).toBe(0);
      });
    });

    it("claims messages of one key together without an order", async () => {
      await save(3, { key: "same" });
      expect((await claim(T + 60_000)).claims).toHaveLength(3);
    });

    describe("in the order of keys", () => {
      beforeEach(async () => {
        ({ store, transaction } = await empty({ order: "key" }));
      });

      it("claims the first of each key, and the next when it is delivered", async () => {
        await save(2, { key: "same" });
        await transaction((tx) => store.save(tx, sample(3), T));
        const claimed = await claim(T + 9);
        expect(numbersOf(claimed).sort()).toEqual([1, 3]);
        expect(await store.nextDue()).toBeUndefined();
        expect((await claim(T + 1e6)).claims).toEqual([]);
        const first = claimed.claims.find(({ message }) => message.id === idOf(1)) as Claim;
        expect(await deliver(store, first, T + 50)).toBe(true);
        expect(await store.nextDue()).toBe(T + 2);
        expect(numbersOf(await claim(T + 50))).toEqual([2]);
      });

      it("keeps the others waiting while the first one fails, until it is dead", async () => {
        await save(2, { key: "same" });
        await fail(store, only(await claim(T + 9)), failure(T, T + 90_000));
        expect(await store.nextDue()).toBe(T + 90_000);
        expect((await claim(T + 60_000)).claims).toEqual([]);
        const again = only(await claim(T + 90_000));
        await fail(store, again, failure(T + 91_000, undefined));
        expect(await store.nextDue()).toBe(T + 2);
        expect(numbersOf(await claim(T + 91_000))).toEqual([2]);
      });

      it("lets the next one go when the first is dead of expired claims", async () => {
        await save(2, { key: "same" });
        const first = only(await claim(T + 9));
        await store.recover(first, failure(T + 70_000, undefined), fence);
        expect(numbersOf(await claim(T + 70_000))).toEqual([2]);
      });

      it("puts a replayed message before those saved later", async () => {
        await save(3, { key: "same" });
        await fail(store, only(await claim(T + 1)), failure(T, undefined));
        await store.replay("all", T + 5);
        expect(numbersOf(await claim(T + 60_000))).toEqual([1]);
      });
    });
  });
}
