import type { Claim } from "../store/claim.ts";
import type { Queryable, Row } from "../store/database.ts";
import type { Failure, MessageOrder } from "../store/outbox-store.ts";
import { changeAll, listsOf, sequenceOf } from "./lists.ts";
import type { Statements } from "./statements.ts";

/** An attempt that was confirmed. */
export interface Success {
  readonly claim: Claim;
  readonly now: number;
}

/** A failure, the statement that writes it, and the name of the writer. */
interface Failed {
  readonly failure: Failure;
  readonly text: string;
  readonly editor: string;
}

/**
 * Writes outcomes of claims. A transaction locks the row, compares the number of its claim, and writes:
 * the server's count of changed rows depends on the options of the pool.
 */
export class Outcomes {
  readonly #sql: Statements;
  readonly #order: MessageOrder;

  constructor(sql: Statements, order: MessageOrder) {
    this.#sql = sql;
    this.#order = order;
  }

  /** Also right if a claim has ended meanwhile, as long as there is no newer one. */
  async succeed(tx: Queryable, all: readonly Success[]): Promise<readonly boolean[]> {
    const rows = await this.#lockAll(tx, all);
    const isNewest = all.map(({ claim }) => isOf(rows.get(claim.message.id), claim));
    const groups = groupsOf(
      all.filter((_, i) => isNewest[i]),
      ({ claim, now }) => `${now} ${claim.worker}`,
    );
    for (const group of groups) {
      const [{ claim, now }] = group;
      const sequences = group.map((each) => sequenceOf(rows.get(each.claim.message.id) as Row));
      const params = [claim.worker, Math.round(now)];
      await changeAll(tx, sequences, this.#sql.markSuccess, params);
      await this.#advance(tx, sequences, now);
    }
    return isNewest;
  }

  /** @returns false, and changes nothing, if the claim is not held any more */
  async fail(tx: Queryable, claim: Claim, { failure, text, editor }: Failed): Promise<boolean> {
    const { now, error, nextScheduleTime } = failure;
    const row = await this.#lockHeld(tx, claim);
    if (row === undefined) return false;
    const isDead = nextScheduleTime === undefined;
    const next = isDead ? ["dead", null] : [null, Math.round(nextScheduleTime)];
    await tx.query(text, [...next, error, editor, Math.round(now), claim.message.id]);
    if (isDead) await this.#advance(tx, [sequenceOf(row)], now);
    return true;
  }

  /** @returns false, and changes nothing, if the claim is not held any more */
  async release(tx: Queryable, claim: Claim): Promise<boolean> {
    const row = await this.#lockHeld(tx, claim);
    if (row !== undefined) await tx.query(this.#sql.release, [claim.message.id]);
    return row !== undefined;
  }

  /** The row of a held claim: an outcome sent twice must not count twice. */
  async #lockHeld(tx: Queryable, claim: Claim): Promise<Row | undefined> {
    const [row] = await tx.query(this.#sql.lockClaim, [claim.message.id]);
    return isOf(row, claim) && row?.["claimed_by"] !== null ? row : undefined;
  }

  async #lockAll(tx: Queryable, all: readonly Success[]): Promise<ReadonlyMap<unknown, Row>> {
    const ids = new Set(all.map(({ claim }) => claim.message.id));
    const rows: Row[] = [];
    // Sorted, or two batches could wait for one another.
    for (const list of listsOf([...ids].sort()))
      rows.push(...(await tx.query(this.#sql.lockClaims(list.length), list)));
    return new Map(rows.map((row) => [row["id"], row]));
  }

  /** With an order, the messages that waited for these are due now. */
  async #advance(tx: Queryable, sequences: readonly unknown[], now: number): Promise<void> {
    if (this.#order === "none") return;
    for (const list of listsOf(sequences)) {
      const rows = await tx.query(this.#sql.followers(list.length), list);
      const followers = rows.map(sequenceOf).filter((sequence) => sequence !== null);
      await changeAll(tx, followers, this.#sql.advance, [Math.round(now)]);
    }
  }
}

/** Whether a row has no newer claim. */
function isOf(row: Row | undefined, claim: Claim): boolean {
  return row !== undefined && Number(row["claim_number"]) === claim.number;
}

function groupsOf<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): readonly (readonly [Item, ...Item[]])[] {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return [...groups.values()];
}
