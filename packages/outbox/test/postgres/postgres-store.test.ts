import { type PostgresDatabase, PostgresStore } from "@holdfast/outbox/postgres";
import type { Queryable, Row } from "@holdfast/outbox/store";
import { describe, expect, it } from "vitest";
import { ClaimStatements } from "../../src/postgres/claim-statements.ts";
import { statementsOf } from "../../src/postgres/statements.ts";
import { idOf } from "../sample.ts";

const T = 1_700_000_000_000;
const request = { relay: "a", now: T, until: T + 1, limit: 1 };
const claim = new ClaimStatements("outbox_message", "none").claim({
  topics: "all",
  hasExpired: undefined,
});
const names = new Map(
  Object.entries({ ...statementsOf("outbox_"), claim }).map(([name, text]) => [text, name]),
);

/** A row of a message that relay `a` has claimed. */
const ROW: Row = {
  ...{ id: idOf(1), topic: "a", key: "b", headers: "{}", payload: "1", priority: 0 },
  status: "pending",
  ...{ created_at: T, updated_at: T, due_at: T, failed_attempts: 0, expired_claims: 0 },
  ...{ max_attempts: 5, initial_delay: 1, factor: 2, last_error: null },
  ...{ max_delay: null, expires_at: null },
  ...{ claimed_by: "a", claimed_until: T + 1, claim_number: 1 },
};

/** A store on a server with a default isolation level, whose statements return one row. */
function setUp({ level = "read committed", row = ROW } = {}) {
  const ran: string[] = [];
  const params: (readonly unknown[] | undefined)[] = [];
  const queryAt =
    (place: string): Queryable["query"] =>
    async (text, given) => {
      const name = names.get(text) ?? text;
      ran.push(`${name} ${place}`);
      params.push(given);
      return [name === "isolation" ? { level } : row];
    };
  const database: PostgresDatabase = {
    query: queryAt("alone"),
    transaction: (work) => work({ query: queryAt("at the default level") }),
    readCommitted: (work) => work({ query: queryAt("at READ COMMITTED") }),
    async [Symbol.asyncDispose]() {},
  };
  return { ran, params, store: new PostgresStore(database) };
}

describe("the isolation level", () => {
  it.each([
    ["read committed", "alone"],
    ["repeatable read", "at READ COMMITTED"],
    ["serializable", "at READ COMMITTED"],
  ])("is asked for once; with the default %s statements run %s", async (level, place) => {
    const { ran, store } = setUp({ level });
    await store.removeDelivered(T, 1);
    await store.discard("all");
    expect(ran).toEqual(["isolation alone", `removeDelivered ${place}`, `discard ${place}`]);
  });

  it("of a recovery is READ COMMITTED, in one transaction with its fence", async () => {
    const { ran, store } = setUp({ level: "serializable" });
    const { claims } = await store.claim(request);
    ran.length = 0;
    const failure = { now: T, error: "expired", dueAt: T };
    const recovered = claims.map((claim) =>
      store.recover(claim, failure, { name: "recovery", token: 1 }),
    );
    expect(await Promise.all(recovered)).toEqual([true]);
    expect(ran).toEqual(["fence at READ COMMITTED", "recover at READ COMMITTED"]);
  });
});

it.each(["topic", "created_at", "headers"])(
  "a setting of the driver that makes %s unreadable releases the claims, and makes no dead letter",
  async (column) => {
    const { ran, params, store } = setUp({ row: { ...ROW, [column]: { text: "as an object" } } });
    const problem = `columns ${column} have values of the wrong type`;
    await expect(store.claim(request)).rejects.toThrow(problem);
    expect(ran).toEqual(["isolation alone", "claim alone", "releaseUnread alone"]);
    expect(params.at(-1)).toEqual(["a", T + 1]);
    await expect(store.expired(T, 1)).rejects.toThrow(problem);
    expect(ran.slice(3)).toEqual(["expired alone"]);
  },
);

it("names what is missing in a row that is not a message", async () => {
  const row = { ...ROW, topic: null, headers: null, factor: null, claim_number: "" };
  const { ran, params, store } = setUp({ row });
  const problem = [
    "topic: is missing",
    "headers: is missing",
    "headers: is not an object of texts",
    "factor: is missing",
    "claim_number: is not a number of at least 0",
  ].join("; ");
  expect(await store.claim(request)).toEqual({ claims: [], invalid: [{ id: idOf(1), problem }] });
  expect([ran.at(-1), params.at(-1)]).toEqual(["deadLetter alone", [idOf(1), "", T, problem]]);
});
