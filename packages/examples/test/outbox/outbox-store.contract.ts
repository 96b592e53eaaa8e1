import { beforeEach, describe, expect, it } from "vitest";
import type { Message } from "../../src/outbox/message/message.ts";
import type { Claim, Claimed } from "../../src/outbox/store/claim.ts";
import type { Failure, OutboxStore } from "../../src/outbox/store/outbox-store.ts";
import { isStaleFenceError } from "../../src/outbox/store/stale-fence-error.ts";
import { idOf, sample } from "./sample.ts";

/** A store that is tested, and what else it takes. */
export interface StoreUnderTest<Tx> {
  readonly store: OutboxStore<Tx>;
  transaction<Value>(work: (tx: Tx) => Promise<Value>): Promise<Value>;
}

const T = 1_700_000_000_000;
const LEASE = 30_000;

/** What every store must do; `empty` gives one without messages. */
export function testStore<Tx>(name: string, empty: () => Promise<StoreUnderTest<Tx>>): void {
  describe(name, () => {
    let store: OutboxStore<Tx>;
    let transaction: StoreUnderTest<Tx>["transaction"];

    beforeEach(async () => {
      ({ store, transaction } = await empty());
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

    it("keeps a message as it was saved, and gives it with a claim", async () => {
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

    it("refuses an id that it has", async () => {
      await save(1);
      await expect(save(1)).rejects.toThrow();
      expect(await store.counts()).toEqual({ pending: 1, failed: 0, success: 0, dead: 0 });
    });

    it.each([
      ["an id that is no UUID", { id: "7" }, /message\.id/],
      ["a creator without a name", { creator: "" }, /message\.creator/],
      ["no retries", { maxRetryTimes: 0 }, /message\.maxRetryTimes/],
      ["half a retry", { maxRetryTimes: 1.5 }, /message\.maxRetryTimes/],
      ["a negative wait", { initBackoff: -1 }, /message\.initBackoff/],
      ["a wait that is no number", { initBackoff: Number.NaN }, /message\.initBackoff/],
      ["a factor below 1", { backoffFactor: 0.5 }, /message\.backoffFactor/],
      ["waits of centuries", { backoffFactor: 1_000 }, /a hundred years/],
      ["content that JSON cannot hold", { content: undefined }, /message\.content/],
      ["content that has no end", { content: 1n }, /message\.content/],
      ["text that no database keeps", { businessKey: "a\0b" }, /message\.businessKey/],
    ])("refuses %s, and says what is wrong", async (_, facts, problem) => {
      const saving = transaction((tx) => store.save(tx, sample(1, facts), T));
      await expect(saving).rejects.toThrow(RangeError);
      await expect(saving).rejects.toThrow(problem);
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

    it("claims what was saved once, and not again after an attempt", async () => {
      await save(3);
      expect((await claimSaved(1, 2)).claims.map(({ message }) => message.id)).toEqual(
        [1, 2].map(idOf),
      );
      const [third] = (await claimSaved(1, 2, 3)).claims;
      expect(third?.message.id).toBe(idOf(3));
      expect(await store.markFail(third as Claim, failure(T, T + 20_000))).toBe(true);
      expect((await claimSaved(1, 2, 3)).claims).toEqual([]);
    });

    it("claims what is due, the earliest first and as many as asked for", async () => {
      await save(5);
      const due = T + 10_004; // The fifth is not.
      expect((await claimDue(due, 3)).claims.map(({ message }) => message.id)).toEqual(
        [1, 2, 3].map(idOf),
      );
      expect((await claimDue(due, 3)).claims.map(({ message }) => message.id)).toEqual([idOf(4)]);
      expect((await claimDue(due, 3)).claims).toEqual([]);
      expect(await store.nextDue()).toBe(T + 10_005);
    });

    it("gives each message to one of many who claim at once", async () => {
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

    it("does nothing more with a message that is confirmed", async () => {
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

    it("counts a failure, keeps what it said, and is due again when it says", async () => {
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

    it("lets nobody write who has an older claim", async () => {
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
      expect((await store.find(idOf(1)))?.status).toBe("failed");
      expect(await store.markSuccess(newer, T)).toBe(true);
    });

    it("takes a confirmation that comes late, as long as nobody has claimed the message again", async () => {
      await save(1);
      const claim = only(await claimSaved(1));
      await store.releaseOrphan(claim, failure(T, T + 9), { name: "x", token: 1 });
      expect(await store.markSuccess(claim, T)).toBe(true);
      expect((await claimDue(T + 1e9)).claims).toEqual([]);
    });

    it("is due as it was after a claim was given back, and no failure is counted", async () => {
      await save(1);
      const before = await store.find(idOf(1));
      const claim = only(await claimSaved(1));
      expect(await store.release(claim)).toBe(true);
      expect(await store.release(claim)).toBe(false);
      expect(await store.find(idOf(1))).toEqual(before);
      expect(only(await claimDue(T + 10_001)).number).toBe(2);
    });

    it("names the claims that have ended, the first first, until they are released", async () => {
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

    it("turns a token away that is not the newest, each name for itself", async () => {
      await save(3);
      const [first, second, third] = (await claimSaved(1, 2, 3)).claims as [Claim, Claim, Claim];
      const write = (claim: Claim, name: string, token: number): Promise<unknown> =>
        store.releaseOrphan(claim, failure(T, T + 9), { name, token }).catch((error) => error);
      expect(await write(first, "x", 3)).toBe(true);
      expect(await write(second, "x", 2)).toSatisfy(isStaleFenceError);
      expect((await store.find(idOf(2)))?.currentRetryTimes).toBe(0);
      expect(await write(second, "x", 3)).toBe(true);
      expect(await write(third, "y", 0)).toBe(true);
    });
  });
}
