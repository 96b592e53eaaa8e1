import { randomUUID } from "node:crypto";
import type { NewMessage } from "@holdfast/outbox";
import type {
  Claim,
  Claimed,
  ClaimRequest,
  Database,
  OutboxStore,
  Outcome,
  Queryable,
  Row,
} from "@holdfast/outbox/store";
import { RELEASED } from "./released-statements.ts";

/** The part of a store that a relay without recovery uses, with the statements of the version before. */
export type ReleasedStore = Pick<
  OutboxStore<Queryable>,
  "order" | "claim" | "nextDue" | "write"
> & {
  insert(message: NewMessage, now: number): Promise<string>;
};

/** The values of an insert, in the order of the statement. */
function valuesOf(id: string, { topic, key, payload }: NewMessage, now: number): unknown[] {
  const schedule = [100, 20, 1, 1_000, 0];
  return [id, topic, key, "{}", JSON.stringify(payload), ...schedule, now];
}

function claimedOf(rows: readonly Row[]): Claimed {
  const claims = rows.map((row) => {
    const { initial_delay: duration, factor, max_delay: cap } = row;
    const message = {
      id: row["id"],
      topic: row["topic"],
      key: row["key"],
      headers: {},
      payload: JSON.parse(String(row["payload"])),
      status: row["status"],
      failedAttempts: Number(row["failed_attempts"]),
      expiredClaims: Number(row["expired_claims"]),
      maxAttempts: Number(row["max_attempts"]),
      backoff: { duration, factor, cap },
      createdAt: Number(row["created_at"]),
      updatedAt: Number(row["updated_at"]),
      dueAt: Number(row["due_at"]),
    };
    const number = Number(row["claim_number"]);
    return { message, relay: row["claimed_by"], until: Number(row["claimed_until"]), number };
  });
  return { claims: claims as unknown as readonly Claim[], invalid: [] };
}

export function releasedPostgres(database: Database): ReleasedStore {
  const sql = RELEASED.postgres;
  return {
    order: "none",
    async insert(message, now) {
      const id = randomUUID();
      await database.query(sql.insert, valuesOf(id, message, now));
      return id;
    },
    async claim({ relay, now, until, limit, maxBytes = null, hasExpired }) {
      const text = hasExpired === true ? sql.claimAlone : sql.claim;
      return claimedOf(await database.query(text, [relay, until, now, limit, maxBytes]));
    },
    async nextDue(_, filter) {
      const text = filter?.hasExpired === true ? sql.nextDueAlone : sql.nextDue;
      const [row] = await database.query(text);
      const next = row?.["next_due"] ?? undefined;
      return next === undefined ? undefined : Number(next);
    },
    async write(outcomes) {
      const rows = await database.query(sql.write, [
        outcomes.map(({ claim }) => claim.message.id),
        outcomes.map(({ claim }) => claim.number),
        outcomes.map(({ type }) => type),
        outcomes.map((outcome) => nowOf(outcome)),
        outcomes.map((one) => (one.type === "failed" ? (one.failure.dueAt ?? null) : null)),
        outcomes.map((one) => (one.type === "failed" ? one.failure.error : null)),
      ]);
      const written = new Set(rows.map(({ id }) => id));
      return outcomes.map(({ claim }) => written.has(claim.message.id));
    },
  };
}

function nowOf(outcome: Outcome): number | null {
  if (outcome.type === "released") return null;
  return outcome.type === "failed" ? outcome.failure.now : outcome.now;
}

export function releasedMySql(database: Database): ReleasedStore {
  const sql = RELEASED.mysql;
  const due = (on: Queryable, hasExpired: boolean | undefined, until: number, limit: number) => {
    const text = hasExpired === true ? sql.dueAlone : sql.due;
    return on.query(text.replaceAll("{until}", `${until}`).replaceAll("{limit}", `${limit}`));
  };
  const claimOne = async (tx: Queryable, sequence: unknown, request: ClaimRequest) => {
    const { relay, now, until } = request;
    const lock = sql.lockDue.replace("{until}", `${Math.floor(now)}`);
    const locked = await tx.query(lock.replace("{sequence}", String(sequence)));
    if (locked.length === 0) return [];
    await tx.query(sql.claim, [relay, Math.round(until), sequence]);
    return await tx.query(sql.claimed, [sequence]);
  };
  const writeOne = async (tx: Queryable, outcome: Outcome): Promise<boolean> => {
    const { id } = outcome.claim.message;
    const [row] = await tx.query(sql.lockClaims, [id]);
    if (Number(row?.["claim_number"]) !== outcome.claim.number) return false;
    const sequence = row?.["sequence"];
    if (outcome.type === "delivered")
      await tx.query(sql.deliver, [Math.round(outcome.now), sequence]);
    else if (row?.["claimed_by"] === null) return false;
    else if (outcome.type === "released") await tx.query(sql.release, [sequence]);
    else {
      const { now, error, dueAt } = outcome.failure;
      const next = dueAt === undefined ? ["dead", null] : [null, Math.round(dueAt)];
      await tx.query(sql.fail, [...next, error, Math.round(now), id]);
    }
    return true;
  };
  return {
    order: "none",
    async insert(message, now) {
      const id = randomUUID();
      await database.query(sql.insert, [...valuesOf(id, message, now), now, now]);
      return id;
    },
    async claim(request) {
      return await database.transaction(async (tx) => {
        const { hasExpired, now, limit } = request;
        const rows: Row[] = [];
        for (const { sequence } of await due(tx, hasExpired, Math.floor(now), limit))
          rows.push(...(await claimOne(tx, sequence, request)));
        return claimedOf(rows);
      });
    },
    async nextDue(_, filter) {
      const [row] = await due(database, filter?.hasExpired, Number.MAX_SAFE_INTEGER, 1);
      return row === undefined ? undefined : Number(row["due_at"]);
    },
    async write(outcomes) {
      return await database.transaction(async (tx) => {
        const written: boolean[] = [];
        for (const outcome of outcomes) written.push(await writeOne(tx, outcome));
        return written;
      });
    },
  };
}
