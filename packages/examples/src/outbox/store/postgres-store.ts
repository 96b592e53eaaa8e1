import type { Database, Queryable, Row } from "../database/database.ts";
import type { Message, NewMessage } from "../message/message.ts";
import type { MessageStatus } from "../message/message-status.ts";
import { pendingMessage } from "../message/pending-message.ts";
import { Batch } from "./batch.ts";
import type { BrokenMessage, Claim, Claimed } from "./claim.ts";
import { claimOf, isBroken, messageOf } from "./message-row.ts";
import type { ClaimRequest, Failure, Fence, OutboxStore, ReplayRequest } from "./outbox-store.ts";
import { StaleFenceError } from "./stale-fence-error.ts";
import * as sql from "./statements.ts";

interface Success {
  readonly claim: Claim;
  readonly now: number;
}

/** Messages in PostgreSQL, in the tables that `migrate` makes. */
export class PostgresStore implements OutboxStore<Queryable> {
  readonly #database: Database;
  /** One statement and one commit for all that were confirmed at once. */
  readonly #successes = new Batch<Success, boolean>((all) => this.#markSuccess(all));

  constructor(database: Database) {
    this.#database = database;
  }

  async save(tx: Queryable, message: NewMessage, now: number): Promise<Message> {
    const saved = pendingMessage(message, now);
    const { id, creator, route, createTime, nextScheduleTime, maxRetryTimes } = saved;
    await tx.query(sql.INSERT, [
      ...[id, createTime, creator, maxRetryTimes, nextScheduleTime],
      ...[saved.initBackoff, saved.backoffFactor],
      ...[route.queue, route.exchange, route.exchangeType, route.routingKey],
      ...[saved.businessModule, saved.businessKey, JSON.stringify(saved.content)],
    ]);
    return saved;
  }

  async claimSaved(ids: readonly string[], request: ClaimRequest): Promise<Claimed> {
    const { worker, now, until } = request;
    return await this.#claims(sql.CLAIM_SAVED, [worker, until, ids], now);
  }

  async claimDue({ worker, now, until }: ClaimRequest, limit: number): Promise<Claimed> {
    return await this.#claims(sql.CLAIM_DUE, [worker, until, now, limit], now);
  }

  async nextDue(): Promise<number | undefined> {
    const [row] = await this.#database.query(sql.NEXT_DUE);
    return (row?.["next_due"] as number | null) ?? undefined;
  }

  async markSuccess(claim: Claim, now: number): Promise<boolean> {
    return await this.#successes.call({ claim, now });
  }

  async markFail(claim: Claim, failure: Failure): Promise<boolean> {
    return await markFail(this.#database, claim, failure, claim.worker);
  }

  async release({ message, number }: Claim): Promise<boolean> {
    return await changed(this.#database, sql.RELEASE, [message.id, number]);
  }

  async orphans(now: number, limit: number): Promise<Claimed> {
    return await this.#claims(sql.ORPHANS, [now, limit], now);
  }

  async releaseOrphan(claim: Claim, failure: Failure, fence: Fence): Promise<boolean> {
    return await this.#database.transaction(async (tx) => {
      if (!(await changed(tx, sql.FENCE, [fence.name, fence.token])))
        throw new StaleFenceError(fence);
      return await markFail(tx, claim, failure, fence.name);
    });
  }

  async replay({ ids, editor, now }: ReplayRequest): Promise<number> {
    const rows = await this.#database.query(sql.REPLAY, [ids ?? null, editor, now]);
    return rows.length;
  }

  async find(id: string): Promise<Message | undefined> {
    const [row] = await this.#database.query(sql.FIND, [id]);
    if (row === undefined) return undefined;
    const message = messageOf(row);
    return isBroken(message) ? undefined : message;
  }

  async counts(): Promise<Readonly<Record<MessageStatus, number>>> {
    const rows = await this.#database.query(sql.COUNTS);
    const counts = rows.map(({ message_status, count }) => [message_status, count]);
    return { pending: 0, failed: 0, success: 0, dead: 0, ...Object.fromEntries(counts) };
  }

  async #markSuccess(all: readonly Success[]): Promise<readonly boolean[]> {
    const marked = await this.#database.query(sql.MARK_SUCCESS, [
      ...[all.map(({ claim }) => claim.message.id), all.map(({ claim }) => claim.number)],
      ...[all.map(({ claim }) => claim.worker), all.map(({ now }) => now)],
    ]);
    const keys = new Set(marked.map(({ id, number }) => `${id} ${number}`));
    return all.map(({ claim }) => keys.has(`${claim.message.id} ${claim.number}`));
  }

  async #claims(text: string, params: readonly unknown[], now: number): Promise<Claimed> {
    const claims: Claim[] = [];
    const broken: BrokenMessage[] = [];
    for (const row of await this.#database.query(text, params)) {
      const claim = claimOf(row);
      if (isBroken(claim)) broken.push(await this.#bury(claim, row, now));
      else claims.push(claim);
    }
    return { claims, broken };
  }

  /** If this fails too, the claim of the row ends some time, and it is found again then. */
  async #bury(broken: BrokenMessage, row: Row, now: number): Promise<BrokenMessage> {
    const { id, problem } = broken;
    try {
      await this.#database.query(sql.BURY, [id, row["claim_number"], now, problem]);
      return broken;
    } catch (error) {
      return { id, problem: `${problem}; it could not be made dead: ${(error as Error).message}` };
    }
  }
}

async function markFail(
  queryable: Queryable,
  { message, number }: Claim,
  { now, error, nextScheduleTime }: Failure,
  editor: string,
): Promise<boolean> {
  const params = [message.id, number, editor, now, error, nextScheduleTime ?? null];
  return await changed(queryable, sql.MARK_FAIL, params);
}

/** Whether a statement that returns what it changes has changed anything. */
async function changed(
  queryable: Queryable,
  text: string,
  params: readonly unknown[],
): Promise<boolean> {
  const rows = await queryable.query(text, params);
  return rows.length > 0;
}
