import type { Message, NewMessage } from "@holdfast/outbox";
import {
  type Claim,
  type Claimed,
  type Failure,
  isStaleFenceError,
  type MessageOrder,
  type OutboxStore,
} from "@holdfast/outbox/store";
import { beforeEach, describe, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { deliver, fail, release } from "../outcomes.ts";
import { idOf, numberOf, sample } from "../sample.ts";

/** A store that is tested, and what else it takes. */
export interface StoreUnderTest<Tx> {
  readonly store: OutboxStore<Tx>;
  transaction<Value>(work: (tx: Tx) => Promise<Value>): Promise<Value>;
  /** Whether all others wait while a transaction is open. */
  readonly isAlone?: boolean;
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
    problem: "a delay below 0",
    facts: { delay: -1 },
    error: ["RangeError", "message.delay must be a number from 0 to 3153600000000, got -1"],
  },
  {
    problem: "a Date as its instant",
    facts: { dueAt: new Date(T) },
    error: [
      "TypeError",
      "message.dueAt must be a number from 0 to 253402300799999, got [object Date]",
    ],
  },
  {
    problem: "two instants",
    facts: { delay: 0, dueAt: T },
    error: ["RangeError", "message.delay and message.dueAt are both set: set one of them"],
  },
  {
    problem: "half a priority",
    facts: { priority: 0.5 },
    error: ["RangeError", "message.priority must be a whole number of at least -2, got 0.5"],
  },
  {
    problem: "a priority that is too large",
    facts: { priority: 3 },
    error: ["RangeError", "message.priority must be a number from -2 to 2, got 3"],
  },
  {
    problem: "a unique key without a time",
    facts: { unique: { key: "a" } },
    error: ["TypeError", "message.unique.within must be a number above 0, got undefined"],
  },
  {
    problem: "a unique key that is empty",
    facts: { unique: { key: "", within: 1 } },
    error: ["RangeError", 'message.unique.key must be a non-empty string, got ""'],
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
    let isAlone: boolean | undefined;

    beforeEach(async () => {
      ({ store, transaction, isAlone } = await empty({ order: "none" }));
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
        priority: 0,
        status: "pending",
        createdAt: T + 1,
        updatedAt: T + 1,
        dueAt: T + 1,
        failedAttempts: 0,
        expiredClaims: 0,
        lastError: undefined,
        expiresAt: T + 1 + 86_400_000,
      };
      expect(message).toEqual({ ...expected, isNew: true });
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

    it("saves a message once by its id, and the transaction continues", async () => {
      await save(1);
      await transaction(async (tx) => {
        const again = await store.save(tx, sample(1, { key: "other" }), T);
        expect(again).toMatchObject({ id: idOf(1), isNew: false });
        expect(await store.save(tx, sample(2), T)).toMatchObject({ isNew: true });
        expect(await store.save(tx, sample(2), T)).toMatchObject({ isNew: false });
      });
      expect(await store.find(idOf(1))).toMatchObject({ key: "order-1" });
      expect(await store.counts()).toEqual({ pending: 2, retrying: 0, delivered: 0, dead: 0 });
    });

    it("saves one of two at a time that have the same id", async () => {
      const saved = await Promise.all(
        [1, 2].map(() => transaction((tx) => store.save(tx, sample(1), T))),
      );
      expect(saved.map(({ isNew }) => isNew).sort()).toEqual([false, true]);
      expect(await store.counts()).toMatchObject({ pending: 1 });
    });

    it("saves a message anew whose id was delivered and removed", async () => {
      await save(1);
      await deliver(store, only(await claim(T + 1)), T + 2);
      expect((await save(1))[0]).toMatchObject({ isNew: false });
      expect(await store.removeDelivered(T + 3, 10)).toBe(1);
      expect((await save(1))[0]).toMatchObject({ isNew: true });
    });

    describe("of a list", () => {
      const saveAll = (numbers: readonly number[], facts: (n: number) => object = () => ({})) =>
        transaction((tx) =>
          store.saveAll(
            tx,
            numbers.map((n) => sample(n, facts(n))),
            T,
          ),
        );

      it("saves all in their order, as one by one", async () => {
        const facts = (n: number): object => ({
          key: "same",
          payload: { text: `it's "${n}" \\ \u0000 \ud83d\ude00 ü` },
          headers: { trace: "\u00fc" },
          maxAge: 1e9,
          priority: n % 3,
          delay: n,
          backoff: { duration: 0.5, factor: 1.5 },
        });
        const numbers = Array.from({ length: 37 }, (_, i) => 40 - i);
        const saved = await saveAll(numbers, facts);
        expect(saved.map(({ id }) => numberOf(id))).toEqual(numbers);
        for (const { isNew, ...message } of saved)
          expect([isNew, await store.find(message.id)]).toEqual([true, message]);
      });

      it("saves those that are not there yet, each id once", async () => {
        await save(2);
        const saved = await saveAll([1, 2, 3, 3, 4]);
        expect(saved.map(({ isNew }) => isNew)).toEqual([false, false, true, false, true]);
        expect(await store.counts()).toMatchObject({ pending: 4 });
      });

      it("saves one of each unique key", async () => {
        const unique = { key: "a", within: 1_000 };
        const saved = await saveAll([1, 2, 3, 4], (n) =>
          n === 2 ? {} : { unique: { ...unique, key: n === 4 ? "b" : "a" } },
        );
        expect(saved.map(({ id, isNew }) => [numberOf(id), isNew])).toEqual([
          [1, true],
          [2, true],
          [1, false],
          [4, true],
        ]);
      });

      it("saves none of an empty list", async () => {
        expect(await saveAll([])).toEqual([]);
      });

      it("saves none if one is refused, which it names", async () => {
        const bad = saveAll([1, 2], (n) => (n === 2 ? { topic: "" } : {}));
        await expect(bad).rejects.toThrow(
          new RangeError('messages[1].topic must be a non-empty string, got ""'),
        );
        expect(await store.find(idOf(1))).toBeUndefined();
      });
    });

    describe("with a unique key", () => {
      const unique = { key: "reminder/4711", within: 60_000 };
      const remind = (n: number, now: number, within = 60_000) =>
        transaction((tx) => store.save(tx, sample(n, { unique: { ...unique, within } }), now));

      it("saves one within the time, whatever became of it, and names it", async () => {
        expect(await remind(1, T)).toMatchObject({ isNew: true });
        expect(await remind(2, T + 59_999)).toMatchObject({ id: idOf(1), isNew: false });
        await deliver(store, only(await claim(T + 59_999)), T + 59_999);
        await store.removeDelivered(T + 1e6, 10);
        expect(await remind(3, T + 59_999)).toMatchObject({ id: idOf(1), isNew: false });
        expect(await remind(4, T + 60_000)).toMatchObject({ id: idOf(4), isNew: true });
        expect(await remind(5, T + 119_999)).toMatchObject({ id: idOf(4), isNew: false });
        expect(await store.counts()).toMatchObject({ pending: 1 });
      });

      it("keeps keys apart, and those of consumers", async () => {
        await remind(1, T);
        await transaction(async (tx) => {
          expect(await store.takeOnce(tx, unique.key, T, 1_000)).toBe(true);
          const other = { ...unique, key: "Reminder/4711" };
          expect(await store.save(tx, sample(2, { unique: other }), T)).toMatchObject({
            isNew: true,
          });
        });
      });

      it("saves one of two transactions at a time: the second waits for the first", async () => {
        const saved = await Promise.all([1, 2, 3, 4].map((n) => remind(n, T)));
        expect(saved.filter(({ isNew }) => isNew)).toHaveLength(1);
        expect(new Set(saved.map(({ id }) => id)).size).toBe(1);
        expect(await store.counts()).toMatchObject({ pending: 1 });
      });

      it("saves the second of two at a time if the first is rolled back", async () => {
        let second: Promise<unknown> | undefined;
        const first = transaction(async (tx) => {
          await store.save(tx, sample(1, { unique }), T);
          second = remind(2, T);
          throw new Error("no stock");
        });
        await expect(first).rejects.toThrow("no stock");
        expect(await second).toMatchObject({ id: idOf(2), isNew: true });
      });

      it("forgets keys whose time is over", async () => {
        await remind(1, T, 1_000);
        await remind(2, T + 1_000, 1_000);
        expect(await store.removeOnce(T + 1_999, 10)).toBe(0);
        expect(await store.removeOnce(T + 2_000, 10)).toBe(1);
      });
    });

    describe("taking a key once", () => {
      const take = (key: string, now = T) =>
        transaction((tx) => store.takeOnce(tx, key, now, 1_000));

      it("takes it for its time", async () => {
        expect([await take("a"), await take("a", T + 999), await take("b")]).toEqual([
          true,
          false,
          true,
        ]);
        expect([await take("a", T + 1_000), await take("a", T + 1_999)]).toEqual([true, false]);
      });

      it("gives it to one of many at a time", async () => {
        const taken = await Promise.all([1, 2, 3, 4, 5].map(() => take("a")));
        expect(taken.filter(Boolean)).toHaveLength(1);
      });

      it("gives it back with a rollback", async () => {
        const failed = transaction(async (tx) => {
          expect(await store.takeOnce(tx, "a", T, 1_000)).toBe(true);
          expect(await store.takeOnce(tx, "a", T, 1_000)).toBe(false);
          throw new Error("no effect");
        });
        await expect(failed).rejects.toThrow("no effect");
        expect(await take("a")).toBe(true);
      });

      it("removes those whose time is over, up to a limit", async () => {
        for (const key of ["a", "b", "c"]) await take(key);
        await take("d", T + 5_000);
        expect(await store.removeOnce(T + 1_000, 2)).toBe(2);
        expect(await store.removeOnce(T + 1_000, 2)).toBe(1);
        expect(await take("d", T + 5_999)).toBe(false);
      });
    });

    describe("later", () => {
      it("makes a message due after its delay", async () => {
        const [saved] = await save(1, { delay: 5_000.5 });
        expect(saved).toMatchObject({ createdAt: T + 1, dueAt: T + 5_002 });
        expect(await store.nextDue()).toBe(T + 5_002);
        expect((await claim(T + 5_001)).claims).toEqual([]);
        expect(only(await claim(T + 5_002)).message).toMatchObject({
          id: idOf(1),
          dueAt: T + 5_002,
        });
      });

      it("makes a message due at its instant, or now if that is over", async () => {
        await transaction(async (tx) => {
          expect(await store.save(tx, sample(1, { dueAt: T + 99 }), T)).toMatchObject({
            dueAt: T + 99,
          });
          expect(await store.save(tx, sample(2, { dueAt: 1 }), T)).toMatchObject({ dueAt: T });
        });
        expect(numbersOf(await claim(T + 98))).toEqual([2]);
        expect(await store.nextDue()).toBe(T + 99);
        expect(numbersOf(await claim(T + 99))).toEqual([1]);
      });

      it("counts the age from when it is due", async () => {
        const [saved] = await save(1, { delay: 5_000, maxAge: 1_000 });
        expect(saved?.expiresAt).toBe(T + 1 + 6_000);
      });

      it("delays by the clock of the database if that of the process is ahead", async () => {
        if (store.now === undefined) return; // It has no clock of its own.
        const ahead = (await store.now()) + 3_600_000;
        await transaction((tx) => store.save(tx, sample(1, { delay: 1_000 }), ahead));
        expect(await store.nextDue()).toBeLessThanOrEqual((await store.now()) + 1_001);
        const at = Math.floor(await store.now()) + 7_200_000;
        await transaction((tx) => store.save(tx, sample(2, { dueAt: at }), ahead));
        expect(await store.find(idOf(2))).toMatchObject({ dueAt: at });
      });
    });

    describe("by priority", () => {
      it("claims the smaller number first, then the earliest", async () => {
        await transaction(async (tx) => {
          for (const [i, priority] of [0, 2, undefined, -2, 1, -1, -2].entries())
            await store.save(
              tx,
              sample(i + 1, { priority, topic: i % 2 === 0 ? "a" : "b" }),
              T + i,
            );
          await store.save(tx, sample(9, { priority: -2, delay: 100 }), T);
        });
        expect(await store.nextDue()).toBe(T);
        const request = { relay: "a", now: T + 9, until: T + CLAIM, limit: 1, hasExpired: false };
        const claimed = async (filter: object): Promise<number[]> =>
          numbersOf(await store.claim({ ...request, ...filter }));
        expect(await claimed({})).toEqual([4]);
        expect(await claimed({ exceptTopics: ["b"], hasExpired: undefined })).toEqual([7]);
        expect(await claimed({ topics: ["a", "b"], limit: 2 })).toEqual([6, 1]);
        expect(await store.nextDue(undefined, { exceptTopics: ["b"] })).toBe(T + 2);
        expect(await claimed({ exceptTopics: ["none"] })).toEqual([3]);
        expect(await claimed({ limit: 9 })).toEqual([5, 2]);
        expect(await store.nextDue()).toBe(T + 100);
        expect(await store.find(idOf(5))).toMatchObject({ priority: 1 });
      });
    });

    describe("cancelling", () => {
      it("removes a message that no relay has claimed, once", async () => {
        await save(2, { delay: 5_000 });
        expect([await store.cancel(idOf(1)), await store.cancel(idOf(1))]).toEqual([true, false]);
        expect(await store.cancel(idOf(7))).toBe(false);
        expect(await store.find(idOf(1))).toBeUndefined();
        expect(numbersOf(await claim(T + 1e6))).toEqual([2]);
      });

      it("leaves one that was claimed: given back, retried, delivered and dead ones too", async () => {
        await save(5);
        const [first, second, third, fourth] = (await claim(T + 9)).claims as [
          Claim,
          Claim,
          Claim,
          Claim,
        ];
        await release(store, first);
        await fail(store, second, failure(T, T + 1e6));
        await fail(store, third, failure(T, undefined));
        await deliver(store, fourth, T);
        const left = await Promise.all([1, 2, 3, 4, 5].map((n) => store.cancel(idOf(n))));
        expect(left).toEqual([false, false, false, false, false]);
        expect(await store.counts()).toEqual({ pending: 2, retrying: 1, delivered: 1, dead: 1 });
      });

      it("is part of a transaction: no relay claims it meanwhile, and a rollback keeps it", async () => {
        await save(2);
        const failed = transaction(async (tx) => {
          expect(await store.cancel(idOf(1), tx)).toBe(true);
          if (!isAlone) expect(numbersOf(await claim(T + 9))).toEqual([2]);
          throw new Error("no");
        });
        await expect(failed).rejects.toThrow("no");
        expect(numbersOf(await claim(T + 9))).toContain(1);
        await transaction(async (tx) => {
          await store.save(tx, sample(3), T);
          expect([await store.cancel(idOf(3), tx), await store.cancel(idOf(3), tx)]).toEqual([
            true,
            false,
          ]);
        });
        expect(await store.find(idOf(3))).toBeUndefined();
      });

      it("frees the unique key", async () => {
        const unique = { key: "a", within: 1e6 };
        await save(1, { unique });
        expect(await store.cancel(idOf(1))).toBe(true);
        const again = await transaction((tx) => store.save(tx, sample(2, { unique }), T));
        expect(again).toMatchObject({ id: idOf(2), isNew: true });
      });

      it("gives a message to one of a claim and a cancel", async () => {
        await save(20);
        const ids = Array.from({ length: 20 }, (_, i) => idOf(i + 1));
        const [{ claims }, ...cancelled] = await Promise.all([
          claim(T + 99, 20),
          ...ids.map((id) => store.cancel(id)),
        ]);
        const claimed = new Set(claims.map(({ message }) => message.id));
        const both = ids.filter((id, i) => claimed.has(id) && cancelled[i]);
        expect(both).toEqual([]);
        expect(await store.counts()).toMatchObject({
          pending: 20 - cancelled.filter(Boolean).length,
        });
      });
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
      expect({ ...(await store.find(first?.id ?? "")), isNew: true }).toEqual(first);
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

    it("holds topics until they are resumed, each by its bytes", async () => {
      const topics = ["a", "a ", "A", "ä", "'; --", "x".repeat(255), "\u{1f600}\\"];
      const bytesOf = (topic: string): string => Buffer.from(topic).toString("hex");
      for (const topic of topics) expect(await store.pause?.(topic, T + 0.5)).toBe(true);
      expect(await store.pausedTopics?.()).toEqual(
        topics.toSorted((one, other) => (bytesOf(one) < bytesOf(other) ? -1 : 1)),
      );
      for (const topic of topics) expect(await store.pause?.(topic, T)).toBe(false);
      expect(await store.resume?.("b")).toBe(false);
      for (const topic of topics) expect(await store.resume?.(topic)).toBe(true);
      expect(await store.pausedTopics?.()).toEqual([]);
      const twice = await Promise.all([store.pause?.("a", T), store.pause?.("a", T)]);
      expect(twice).toContain(true);
      expect(await store.pausedTopics?.(new AbortController().signal)).toEqual(["a"]);
      expect(await store.resume?.("a")).toBe(true);
    });

    it("knows when the oldest message was saved that is neither delivered nor dead", async () => {
      expect(await store.oldest?.()).toBeUndefined();
      await save(3);
      expect(await store.oldest?.()).toBe(T + 1);
      await transaction((tx) => store.save(tx, sample(9), T - 5_000));
      expect(await store.oldest?.(new AbortController().signal)).toBe(T - 5_000);
      await deliver(store, only(await claim(T - 4_000)), T);
      expect(await store.oldest?.()).toBe(T + 1);
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

      it("keeps the others waiting while the first one is due later, whatever their priority", async () => {
        await save(1, { key: "same", delay: 5_000, priority: 2 });
        await transaction(async (tx) => {
          await store.save(tx, sample(2, { key: "same", priority: -2 }), T + 2);
          await store.save(tx, sample(3, { priority: 1 }), T + 3);
        });
        expect(numbersOf(await claim(T + 99))).toEqual([3]);
        expect(await store.nextDue()).toBe(T + 5_001);
        const first = only(await claim(T + 5_001));
        expect(numberOf(first.message.id)).toBe(1);
        await deliver(store, first, T + 5_002);
        expect(numbersOf(await claim(T + 5_002))).toEqual([2]);
      });

      it("lets the next one go when the first is cancelled", async () => {
        await save(1, { key: "same", delay: 5_000 });
        await transaction((tx) => store.save(tx, sample(2, { key: "same" }), T));
        expect(numbersOf(await claim(T + 99))).toEqual([]);
        expect(await store.cancel(idOf(1))).toBe(true);
        expect(numbersOf(await claim(T + 99))).toEqual([2]);
      });

      it("claims the first of each key by its priority", async () => {
        await transaction(async (tx) => {
          for (const [i, priority] of [1, 0, -1].entries())
            await store.save(tx, sample(i + 1, { priority }), T + i);
        });
        expect(numbersOf(await claim(T + 9, 2))).toEqual([3, 2]);
        expect(numbersOf(await claim(T + 9, 2))).toEqual([1]);
      });

      it("claims a list of one key in its order", async () => {
        await transaction((tx) =>
          store.saveAll(
            tx,
            [3, 1, 2].map((n) => sample(n, { key: "same" })),
            T,
          ),
        );
        for (const n of [3, 1, 2]) {
          const held = only(await claim(T + 9));
          expect(numberOf(held.message.id)).toBe(n);
          await deliver(store, held, T);
        }
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
