import { beforeEach, describe, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import type { Message, NewMessage } from "../../src/message/message.ts";
import type { Claim, Claimed } from "../../src/store/claim.ts";
import type {
  Failure,
  MessageOrder,
  OutboxStore,
  ReplayRequest,
} from "../../src/store/outbox-store.ts";
import { isStaleFenceError } from "../../src/store/stale-fence-error.ts";
import { idOf, numberOf, sample } from "../sample.ts";

/** A store that is tested, and what else it takes. */
export interface StoreUnderTest<Tx> {
  readonly store: OutboxStore<Tx>;
  transaction<Value>(work: (tx: Tx) => Promise<Value>): Promise<Value>;
}

const T = 1_700_000_000_000;

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
  ...["creator", "businessModule", "businessKey"].flatMap(
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
    problem: "no route",
    facts: { route: undefined },
    error: ["TypeError", "message.route must be an object, got undefined"],
  },
  ...["exchange", "exchangeType", "queue", "routingKey"].map(
    (field) =>
      ({
        problem: `a route with a ${field} of 300 bytes`,
        facts: { route: { exchange: "", queue: "", routingKey: "", [field]: "x".repeat(300) } },
        error: ["RangeError", `message.route.${field} must be at most 255 bytes of UTF-8, got 300`],
      }) satisfies BadMessage,
  ),
  {
    problem: "no retries",
    facts: { maxRetryTimes: 0 },
    error: ["RangeError", "message.maxRetryTimes must be a whole number of at least 1, got 0"],
  },
  {
    problem: "half a retry",
    facts: { maxRetryTimes: 1.5 },
    error: ["RangeError", "message.maxRetryTimes must be a whole number of at least 1, got 1.5"],
  },
  {
    problem: "retries without end",
    facts: { maxRetryTimes: Number.POSITIVE_INFINITY },
    error: ["RangeError", "message.maxRetryTimes must be a number from 1 to 1000000, got Infinity"],
  },
  {
    problem: "a negative wait",
    facts: { initBackoff: -1 },
    error: ["RangeError", "message.initBackoff must be a number from 0 to 3153600000000, got -1"],
  },
  {
    problem: "a wait that is not a number",
    facts: { initBackoff: "10s" },
    error: ["TypeError", 'message.initBackoff must be a number from 0 to 3153600000000, got "10s"'],
  },
  {
    problem: "a factor below 1",
    facts: { backoffFactor: 0.5 },
    error: ["RangeError", "message.backoffFactor must be a finite number of at least 1, got 0.5"],
  },
  {
    problem: "waits of centuries",
    facts: { backoffFactor: 1_000 },
    error: [
      "RangeError",
      "message: initBackoff × backoffFactor^maxRetryTimes must be at most a hundred years",
    ],
  },
  ...[undefined, () => 1, Symbol("s"), 1n, circular].map(
    (content) =>
      ({
        problem: `content that JSON cannot hold: ${typeof content}`,
        facts: { content },
        error: ["RangeError", "message.content must be a JSON value"],
      }) satisfies BadMessage,
  ),
  {
    problem: "content of 20 MB",
    facts: { content: "x".repeat(20_000_000) },
    error: ["RangeError", "message.content must be at most 8388608 bytes of UTF-8, got 20000002"],
  },
];
const LEASE = 30_000;

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
    const request = (worker: string, now: number) => ({ worker, now, until: now + LEASE });
    const claimSaved = (...numbers: number[]): Promise<Claimed> =>
      store.claimSaved(numbers.map(idOf), request("a", T));
    const claimDue = (now: number, limit = 10, worker = "a"): Promise<Claimed> =>
      store.claimDue(request(worker, now), limit);
    const failure = (now: number, nextScheduleTime: number | undefined): Failure => ({
      now,
      error: "unreachable",
      nextScheduleTime,
    });
    const only = ({ claims }: Claimed): Claim => {
      expect(claims).toHaveLength(1);
      return claims[0] as Claim;
    };

    it("keeps a message as it was saved, and returns it with a claim", async () => {
      const facts = { maxRetryTimes: 7, initBackoff: 1_500.5, backoffFactor: 1.5 };
      const content = { text: 'quote " and \\ and \u0000', list: [1, null, { deep: true }] };
      const [message] = await save(1, { ...facts, content });
      const expected: Message = {
        id: idOf(1),
        ...{ createTime: T + 1, editTime: T + 1, creator: "shop", editor: "shop", deleted: false },
        ...{ businessModule: "orders", businessKey: "order-1", content, status: "pending" },
        route: {
          exchange: "shop",
          exchangeType: "direct",
          queue: "paid",
          routingKey: "orders.paid",
        },
        ...{
          currentRetryTimes: 0,
          lostAttempts: 0,
          ...facts,
          nextScheduleTime: T + 1 + 1_501,
          lastError: undefined,
        },
      };
      expect(message).toEqual(expected);
      expect(await store.find(idOf(1))).toEqual(expected);
      expect(await claimSaved(1)).toEqual({
        claims: [{ message: expected, worker: "a", number: 1, until: T + LEASE }],
        broken: [],
      });
    });

    it("has no message whose transaction was rolled back", async () => {
      const failed = transaction(async (tx) => {
        await store.save(tx, sample(1), T);
        throw new Error("no stock");
      });
      await expect(failed).rejects.toThrow("no stock");
      expect(await store.find(idOf(1))).toBeUndefined();
      expect((await claimSaved(1)).claims).toEqual([]);
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
      expect(await store.counts()).toEqual({ pending: 2, failed: 0, success: 0, dead: 0 });
    });

    describe.each(BAD_MESSAGES)("refuses $problem", ({ facts, error }) => {
      it("by name, and the transaction continues", async () => {
        const bad = { ...sample(1), ...facts } as NewMessage;
        await transaction(async (tx) => {
          const failed = (await errorOf(store.save(tx, bad, T))) as Error;
          expect([failed.name, failed.message]).toEqual(error);
          await store.save(tx, sample(2), T);
        });
        expect(await store.counts()).toEqual({ pending: 1, failed: 0, success: 0, dead: 0 });
      });
    });

    it("keeps the longest names and the largest content as they are", async () => {
      const longest = "ü".repeat(127) + "x"; // 255 bytes
      const names = { creator: longest, businessModule: longest, businessKey: longest };
      const route = {
        exchange: longest,
        exchangeType: longest,
        queue: longest,
        routingKey: longest,
      };
      const content = "é".repeat(4 * 1_024 * 1_024 - 1); // 8 MiB with its quotes
      await save(1, { ...names, route, content });
      expect(await store.find(idOf(1))).toMatchObject({ ...names, route, content });
      const only = (await claimSaved(1)).claims;
      expect(only).toHaveLength(1);
      expect(only[0]?.message.content).toBe(content);
    });

    it("keeps content as JSON", async () => {
      const content = {
        at: new Date(T),
        none: undefined,
        own: { toJSON: () => "it" },
        half: "\ud800",
      };
      const [saved] = await save(1, { content });
      const told = { at: new Date(T).toISOString(), own: "it", half: "\ud800" };
      expect(saved?.content).toEqual(told);
      expect((await store.find(idOf(1)))?.content).toEqual(told);
    });

    it("makes an id for a message without one", async () => {
      const [first, second] = await transaction(async (tx) => [
        await store.save(tx, sample(1, { id: undefined }), T),
        await store.save(tx, sample(1, { id: undefined }), T),
      ]);
      expect(first?.id).not.toBe(second?.id);
      expect(await store.find(first?.id ?? "")).toEqual(first);
    });

    it("leaves a saved message to its first attempt until its first wait is over", async () => {
      await save(1, { initBackoff: 500 });
      expect(await store.nextDue()).toBe(T + 501);
      expect((await claimDue(T + 500)).claims).toEqual([]);
      expect(only(await claimDue(T + 501)).message.id).toBe(idOf(1));
    });

    it("claims a saved message once, and not again after an attempt", async () => {
      await save(3);
      expect((await claimSaved(1, 2)).claims.map(({ message }) => message.id)).toEqual(
        [1, 2].map(idOf),
      );
      const [third] = (await claimSaved(1, 2, 3)).claims;
      expect(third?.message.id).toBe(idOf(3));
      expect(await store.markFail(third as Claim, failure(T, T + 20_000))).toBe(true);
      expect((await claimSaved(1, 2, 3)).claims).toEqual([]);
    });

    it("claims due messages, the earliest first, up to the limit", async () => {
      await save(5);
      const due = T + 10_004; // The fifth is not.
      expect((await claimDue(due, 3)).claims.map(({ message }) => message.id)).toEqual(
        [1, 2, 3].map(idOf),
      );
      expect((await claimDue(due, 3)).claims.map(({ message }) => message.id)).toEqual([idOf(4)]);
      expect((await claimDue(due, 3)).claims).toEqual([]);
      expect(await store.nextDue()).toBe(T + 10_005);
    });

    it("gives each message to one of many simultaneous claims", async () => {
      await save(20);
      const workers = ["a", "b", "c", "d"];
      const all = await Promise.all(workers.map((worker) => claimDue(T + 60_000, 7, worker)));
      const ids = all.flatMap(({ claims }) => claims.map(({ message }) => message.id));
      expect(ids.sort()).toEqual(Array.from({ length: 20 }, (_, i) => idOf(i + 1)));
    });

    it("finds messages of any age", async () => {
      await save(1);
      expect(only(await claimDue(T + 20 * 365 * 86_400_000)).message.id).toBe(idOf(1));
    });

    it("ignores a confirmed message", async () => {
      await save(1);
      const claim = only(await claimSaved(1));
      expect(await store.markSuccess(claim, T + 5)).toBe(true);
      expect(await store.find(idOf(1))).toMatchObject({
        ...{ status: "success", nextScheduleTime: undefined, lastError: undefined },
        ...{ editor: "a", editTime: T + 5, currentRetryTimes: 0 },
      });
      expect((await claimDue(T + 1e9)).claims).toEqual([]);
      expect(await store.nextDue()).toBeUndefined();
      expect(await store.orphans(T + 1e9, 10)).toEqual({ claims: [], broken: [] });
    });

    it("counts a failure, stores its error, and is due again at its time", async () => {
      await save(1);
      const claim = only(await claimSaved(1));
      expect(await store.markFail(claim, failure(T + 5, T + 20_005))).toBe(true);
      expect(await store.find(idOf(1))).toMatchObject({
        ...{ status: "failed", currentRetryTimes: 1, nextScheduleTime: T + 20_005 },
        ...{ lastError: "unreachable", editor: "a", editTime: T + 5 },
      });
      expect((await claimDue(T + 20_004)).claims).toEqual([]);
      expect(only(await claimDue(T + 20_005)).number).toBe(2);
    });

    it("counts a failure once that is reported twice", async () => {
      await save(1);
      const claim = only(await claimSaved(1));
      expect(await store.markFail(claim, failure(T, T + 9))).toBe(true);
      expect(await store.markFail(claim, failure(T, T + 9))).toBe(false);
      expect((await store.find(idOf(1)))?.currentRetryTimes).toBe(1);
    });

    it("keeps a dead message for a replay, which gives it all its retries", async () => {
      await save(2, { maxRetryTimes: 1 });
      for (const claim of (await claimSaved(1, 2)).claims)
        expect(await store.markFail(claim, failure(T, undefined))).toBe(true);
      expect(await store.counts()).toEqual({ pending: 0, failed: 0, success: 0, dead: 2 });
      expect((await claimDue(T + 1e9)).claims).toEqual([]);
      expect(await store.replay({ ids: [idOf(2), idOf(3)], editor: "ann", now: T + 7 })).toBe(1);
      expect(await store.find(idOf(2))).toMatchObject({
        ...{ status: "pending", currentRetryTimes: 0, nextScheduleTime: T + 7, editor: "ann" },
        ...{ lastError: "unreachable", editTime: T + 7 },
      });
      expect(only(await claimDue(T + 7)).message.id).toBe(idOf(2));
      expect(await store.replay({ editor: "ann", now: T + 8 })).toBe(1);
      expect(await store.counts()).toEqual({ pending: 2, failed: 0, success: 0, dead: 0 });
    });

    it("rejects writes with an older claim", async () => {
      await save(1);
      const old = only(await claimSaved(1));
      expect(await store.releaseOrphan(old, failure(T, T + 9), { name: "x", token: 1 })).toBe(true);
      const newer = only(await claimDue(T + 9, 10, "b"));
      expect(await store.markSuccess(old, T)).toBe(false);
      expect(await store.markFail(old, failure(T, undefined))).toBe(false);
      expect(await store.release(old)).toBe(false);
      expect(await store.releaseOrphan(old, failure(T, undefined), { name: "x", token: 1 })).toBe(
        false,
      );
      expect((await store.find(idOf(1)))?.status).toBe("pending");
      expect(await store.markSuccess(newer, T)).toBe(true);
    });

    it("accepts a late confirmation until the message is claimed again", async () => {
      await save(1);
      const claim = only(await claimSaved(1));
      await store.releaseOrphan(claim, failure(T, T + 9), { name: "x", token: 1 });
      expect(await store.markSuccess(claim, T)).toBe(true);
      expect((await claimDue(T + 1e9)).claims).toEqual([]);
    });

    it("is due as before after a released claim, and counts no failure", async () => {
      await save(1);
      const before = await store.find(idOf(1));
      const claim = only(await claimSaved(1));
      expect(await store.release(claim)).toBe(true);
      expect(await store.release(claim)).toBe(false);
      expect(await store.find(idOf(1))).toEqual(before);
      expect(only(await claimDue(T + 10_001)).number).toBe(2);
    });

    it("lists ended claims, the earliest first, until they are released", async () => {
      await save(3);
      await store.claimSaved([idOf(2)], { worker: "b", now: T, until: T + 10 });
      await claimSaved(1, 3);
      expect((await store.orphans(T + 9, 10)).claims).toEqual([]);
      expect((await store.orphans(T + LEASE, 2)).claims[0]).toMatchObject({
        ...{ message: { id: idOf(2) }, worker: "b", number: 1, until: T + 10 },
      });
      expect((await store.orphans(T + LEASE, 2)).claims).toHaveLength(2);
      const all = (await store.orphans(T + LEASE, 10)).claims;
      expect(all).toHaveLength(3);
      for (const orphan of all)
        await store.releaseOrphan(orphan, failure(T, T + 99), { name: "x", token: 1 });
      expect((await store.orphans(T + 1e9, 10)).claims).toEqual([]);
      expect((await claimDue(T + 99)).claims).toHaveLength(3);
    });

    it("rejects a token that is not the newest, for each name separately", async () => {
      await save(3);
      const [first, second, third] = (await claimSaved(1, 2, 3)).claims as [Claim, Claim, Claim];
      const write = (claim: Claim, name: string, token: number): Promise<unknown> =>
        store.releaseOrphan(claim, failure(T, T + 9), { name, token }).catch((error) => error);
      expect(await write(first, "x", 3)).toBe(true);
      expect(await write(second, "x", 2)).toSatisfy(isStaleFenceError);
      expect((await store.find(idOf(2)))?.lostAttempts).toBe(0);
      expect(await write(second, "x", 3)).toBe(true);
      expect(await write(third, "y", 0)).toBe(true);
    });

    it("counts the attempt of an orphaned claim as lost, not as failed", async () => {
      await save(1);
      const claim = only(await claimSaved(1));
      const fence = { name: "x", token: 1 };
      expect(await store.releaseOrphan(claim, failure(T + 5, T + 9), fence)).toBe(true);
      expect(await store.find(idOf(1))).toMatchObject({
        ...{ status: "pending", currentRetryTimes: 0, lostAttempts: 1, nextScheduleTime: T + 9 },
        ...{ lastError: "unreachable", editor: "x", editTime: T + 5 },
      });
      const again = only(await claimDue(T + 9));
      expect(again.message.lostAttempts).toBe(1);
      expect(await store.releaseOrphan(again, failure(T, undefined), fence)).toBe(true);
      expect(await store.find(idOf(1))).toMatchObject({ status: "dead", lostAttempts: 2 });
      await store.replay({ editor: "ann", now: T });
      expect(await store.find(idOf(1))).toMatchObject({ status: "pending", lostAttempts: 0 });
    });

    it("removes messages confirmed before an instant, the oldest first, up to the limit", async () => {
      await save(5);
      const { claims } = await claimSaved(1, 2, 3, 4, 5);
      for (const [i, claim] of claims.slice(0, 4).entries()) await store.markSuccess(claim, T + i);
      expect(await store.removeConfirmed(T + 3, 2)).toBe(2);
      expect(await Promise.all([1, 2, 3].map((n) => store.find(idOf(n))))).toMatchObject([
        undefined,
        undefined,
        { status: "success" },
      ]);
      expect(await store.removeConfirmed(T + 3, 2)).toBe(1);
      expect(await store.removeConfirmed(T + 3, 2)).toBe(0);
      expect(await store.counts()).toEqual({ pending: 1, failed: 0, success: 1, dead: 0 });
    });

    it("counts messages without success", async () => {
      await save(4, { maxRetryTimes: 1 });
      const { claims } = await claimSaved(1, 2, 3);
      const [first, second, third] = claims as [Claim, Claim, Claim];
      await store.markSuccess(first, T);
      await store.markFail(second, failure(T, T + 9));
      await store.markFail(third, failure(T, undefined));
      expect(await store.backlog()).toEqual({ pending: 1, failed: 1, dead: 1 });
    });

    it.each(["", "a\0b", "x".repeat(256)])("refuses the editor %j of a replay", async (editor) => {
      await expect(store.replay({ editor, now: T })).rejects.toThrow(/^request\.editor must/);
    });

    it.each([
      ["an id that is not a UUID", [idOf(1), "7"], "request.ids[1] must be a UUID"],
      ["an id that is not text", [7], "request.ids[0] must be a string, got 7"],
      ["ids that are not a list", idOf(1), `request.ids must be an array, got "${idOf(1)}"`],
    ])("refuses %s in a replay", async (_, ids, problem) => {
      const request = { ids, editor: "ann", now: T } as unknown as ReplayRequest;
      await expect(store.replay(request)).rejects.toThrow(problem);
    });

    it("finds a message by its id in any case, and none by an invalid UUID", async () => {
      await save(1);
      expect((await store.find(idOf(1).toUpperCase()))?.id).toBe(idOf(1));
      expect(await store.find("7")).toBeUndefined();
    });

    it("claims messages of one key together without an order", async () => {
      await save(3, { businessKey: "same" });
      expect((await claimDue(T + 60_000)).claims).toHaveLength(3);
    });

    describe("in the order of the business key", () => {
      beforeEach(async () => {
        ({ store, transaction } = await empty({ order: "businessKey" }));
      });

      const numbersOf = ({ claims }: Claimed): number[] =>
        claims.map(({ message }) => numberOf(message.id));

      it("claims the first of each key, and the next when it is confirmed", async () => {
        await save(2, { businessKey: "same" });
        await transaction((tx) => store.save(tx, sample(3), T));
        const { claims } = await claimSaved(1, 2, 3);
        expect(numbersOf({ claims, broken: [] }).sort()).toEqual([1, 3]);
        expect(await store.nextDue()).toBeUndefined();
        expect((await claimDue(T + 1e6)).claims).toEqual([]);
        const first = claims.find(({ message }) => message.id === idOf(1)) as Claim;
        expect(await store.markSuccess(first, T + 50)).toBe(true);
        expect(await store.nextDue()).toBe(T + 50);
        expect(numbersOf(await claimDue(T + 50))).toEqual([2]);
      });

      it("keeps the others waiting while the first one fails, until it is dead", async () => {
        await save(2, { businessKey: "same" });
        const first = only(await claimSaved(1, 2));
        await store.markFail(first, failure(T, T + 90_000));
        expect(await store.nextDue()).toBe(T + 90_000);
        expect((await claimDue(T + 60_000)).claims).toEqual([]);
        const again = only(await claimDue(T + 90_000));
        await store.markFail(again, failure(T + 91_000, undefined));
        expect(await store.nextDue()).toBe(T + 91_000);
        expect(numbersOf(await claimDue(T + 91_000))).toEqual([2]);
      });

      it("makes the next one due when the first is dead of lost attempts", async () => {
        await save(2, { businessKey: "same" });
        const first = only(await claimSaved(1, 2));
        const fence = { name: "x", token: 1 };
        await store.releaseOrphan(first, failure(T + 70_000, undefined), fence);
        expect(await store.nextDue()).toBe(T + 70_000);
      });

      it("puts a dead message that is replayed before those saved later", async () => {
        await save(3, { businessKey: "same" });
        await store.markFail(only(await claimSaved(1)), failure(T, undefined));
        await store.replay({ editor: "ann", now: T + 5 });
        expect(numbersOf(await claimDue(T + 60_000))).toEqual([1]);
      });

      it("distinguishes equal keys of different modules", async () => {
        await save(1, { businessKey: "same" });
        await transaction((tx) =>
          store.save(tx, sample(2, { businessKey: "same", businessModule: "stock" }), T),
        );
        expect((await claimSaved(1, 2)).claims).toHaveLength(2);
      });
    });
  });
}
