import type { Claim, Database, OutboxStore, Queryable } from "@holdfast/outbox/store";
import { describe, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { idOf, sample } from "../sample.ts";
import { sampleMessage } from "../sample-message.ts";

/** The prefix of tables that are not there. */
const prefix = "absent_";

/** A database, and its store. */
export interface StoreUnderTest {
  readonly database: Database;
  readonly make: (options: { readonly prefix: string }) => OutboxStore<Queryable>;
  /** The code of a missing table. */
  readonly code: string;
}

const T = 1_700_000_000_000;
const claim: Claim = { message: sampleMessage(), number: 1, relay: "a", until: T };
const selection = { ids: [idOf(1)] };

type Store = OutboxStore<Queryable>;

const IN_TRANSACTION: Record<string, (store: Store, tx: Queryable) => Promise<unknown>> = {
  save: (store, tx) => store.save(tx, sample(1), T),
  saveAll: (store, tx) => store.saveAll(tx, [sample(1), sample(2)], T),
  cancel: (store, tx) => store.cancel(idOf(1), tx),
  takeOnce: (store, tx) => store.takeOnce(tx, "a", T, 1),
};

const ALONE: Record<string, (store: Store) => Promise<unknown> | undefined> = {
  cancel: (store) => store.cancel(idOf(1)),
  removeOnce: (store) => store.removeOnce(T, 1),
  pause: (store) => store.pause?.("a", T),
  resume: (store) => store.resume?.("a"),
  pausedTopics: (store) => store.pausedTopics?.(),
  claim: (store) => store.claim({ relay: "a", now: T, until: T + 1, limit: 1 }),
  nextDue: (store) => store.nextDue(),
  write: (store) => store.write([{ type: "delivered", claim, now: T }]),
  expired: (store) => store.expired(T, 1),
  recover: (store) =>
    store.recover(claim, { now: T, dueAt: undefined, error: "no" }, { name: "a", token: 1 }),
  deadLetters: (store) => store.deadLetters({ topic: undefined, after: undefined, limit: 1 }),
  replay: (store) => store.replay(selection, T),
  discard: (store) => store.discard(selection),
  removeDelivered: (store) => store.removeDelivered(T, 1),
  find: (store) => store.find(idOf(1)),
  backlog: (store) => store.backlog(),
  oldest: (store) => store.oldest?.(),
  activity: (store) => store.activity?.(T),
  counts: (store) => store.counts(),
};

/** Methods that run no statement on its tables. */
const OTHERS = ["constructor", "now", "notify", "restriction", "statements"];

/** What holds on every database without the tables of an outbox. */
export function testMissingTables(name: string, open: () => StoreUnderTest): void {
  const expectAdvice = async (call: Promise<unknown> | undefined): Promise<void> => {
    const error = call && (await errorOf(call));
    const { message, code, cause } = error as Error & { readonly code: unknown };
    expect(message).toMatch(/absent_\w+['"].*: create the tables of the outbox by migrate\(\)/);
    expect(code).toBe(open().code);
    expect(cause).toMatchObject({ code });
  };

  describe(`${name} without its tables names migrate()`, () => {
    it.each(Object.entries(ALONE))("in %s", async (_, call) => {
      const store = open().make({ prefix });
      await expectAdvice(call(store));
    });

    it.each(Object.entries(IN_TRANSACTION))("in %s in a transaction", async (_, call) => {
      const { database, make } = open();
      const store = make({ prefix });
      let isCalled = false;
      const work = async (tx: Queryable): Promise<void> => {
        await expectAdvice(call(store, tx));
        isCalled = true;
      };
      await database.transaction(work).catch(() => {}); // A failed statement ends some transactions.
      expect(isCalled).toBe(true);
    });

    it("in each of its methods", () => {
      const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(open().make({ prefix })));
      const known = [...Object.keys(ALONE), ...Object.keys(IN_TRANSACTION), ...OTHERS];
      expect(methods.filter((method) => !known.includes(method))).toEqual([]);
    });

    it("not for a table of the user", async () => {
      const { database, make, code } = open();
      const triggered: Queryable = { query: () => database.query("SELECT * FROM no_such_table") };
      const error = await errorOf(make({ prefix }).save(triggered, sample(1), T));
      expect(error).toMatchObject({ code });
      expect((error as Error).message).not.toContain("migrate");
    });
  });
}
