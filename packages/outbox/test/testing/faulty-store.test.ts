import { FakeClock } from "@holdfast/clock/testing";
import { faultyStore, MemoryStore, MemoryTransaction } from "@holdfast/outbox/testing";
import { describe, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { idOf, sample } from "../sample.ts";

const now = Date.UTC(2026, 10, 22);
const request = { relay: "relay", now: now + 60_000, until: now + 120_000 };

async function storeWithMessage(): Promise<MemoryStore> {
  const store = new MemoryStore({ order: "key" });
  await store.transaction((tx) => store.save(tx, sample(1), now));
  return store;
}

describe("faultyStore", () => {
  it("loses a request before the store has it", async () => {
    const memory = await storeWithMessage();
    const away = new Error("away");
    const store = faultyStore(memory, {
      before: (name) => {
        if (name === "claim") throw away;
      },
    });
    expect(await errorOf(store.claim({ ...request, limit: 1 }))).toBe(away);
    expect((await memory.claim({ ...request, limit: 1 })).claims).toHaveLength(1);
  });

  it("loses a response after the store has made the change", async () => {
    const memory = await storeWithMessage();
    const requests: string[] = [];
    const cut = new Error("cut");
    const store = faultyStore(memory, {
      after: (name) => {
        requests.push(name);
        throw cut;
      },
    });
    expect(await errorOf(store.claim({ ...request, limit: 1 }))).toBe(cut);
    expect(requests).toEqual(["claim"]);
    expect((await memory.claim({ ...request, limit: 1 })).claims).toEqual([]);
  });

  it("waits as long as its faults do", async () => {
    const clock = new FakeClock();
    const store = faultyStore(await storeWithMessage(), {
      before: () => clock.sleep(30),
      after: () => clock.sleep(500),
    });
    let found: unknown;
    void store.find(idOf(1)).then((message) => {
      found = message?.id;
    });
    await clock.step(529);
    expect(found).toBeUndefined();
    await clock.step(1);
    expect(found).toBe(idOf(1));
  });

  it("reports requests that the store rejects, and rejects with the same error", async () => {
    const memory = await storeWithMessage();
    const seen: unknown[] = [];
    const store = faultyStore(memory, { failed: (...facts) => seen.push(facts) });
    const bad = sample(2, { topic: "" });
    const error = await errorOf(store.save(new MemoryTransaction(), bad, now));
    expect(error).toBeInstanceOf(RangeError);
    expect(seen).toEqual([["save", error]]);
  });

  it("leaves other members as they are", async () => {
    const statement = { message: await new MemoryStore().find(idOf(1)), statements: [] };
    class SqlStore extends MemoryStore {
      statements(): unknown {
        return { ...statement, order: this.order };
      }
    }
    const before = (): never => {
      throw new Error("away");
    };
    const store = faultyStore(new SqlStore({ order: "key" }), { before });
    expect(store.order).toBe("key");
    expect(store.statements()).toEqual({ ...statement, order: "key" });
    expect(faultyStore(new MemoryStore(), {})).not.toHaveProperty("statements");
  });
});
