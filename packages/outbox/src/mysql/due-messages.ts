import { requireWhole } from "@holdfast/kit";
import { PRIORITIES } from "../message/schedule.ts";
import type { Queryable, Row } from "../store/database.ts";
import type { ClaimFilter, MessageOrder } from "../store/outbox-store.ts";
import { sequenceOf } from "./lists.ts";
import { type Lane, type Look, type Statements, textOf } from "./statements.ts";

/** The most priorities of topics that one look reads: those that are first. */
const LANES = 64;

/** The number of keys of which one look reads the first message. */
const KEYS = 256;

/** The number of messages in which the next one that can be claimed is looked for. */
const WINDOW = 64;

/** How many times as many messages are found as are needed. In order, each costs a step in another index. */
const SPARE = { none: 8, key: 3 };

/** Later than any message. */
const EVER = Number.MAX_SAFE_INTEGER;

/** A message that can be claimed. */
export interface DueMessage extends Row {
  readonly sequence: unknown;
  readonly priority: number;
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
}

/**
 * Finds the messages that can be claimed, without a lock.
 *
 * In order, a message that is not the first one of its key waits. When such messages fill a look, it reads the first
 * messages of the next keys too: {@link KEYS} of them, and after a claim those that follow.
 */
export class DueMessages {
  readonly #sql: Statements;
  readonly #order: MessageOrder;
  /** The key, in hexadecimal digits, after which the next claim goes on. */
  #after = "";

  constructor(sql: Statements, order: MessageOrder) {
    this.#sql = sql;
    this.#order = order;
  }

  /**
   * The first ones that are due at an instant.
   *
   * @param limit - how many are needed; some more are found, because others may be claiming the first ones
   */
  async find(
    on: Queryable,
    filter: ClaimFilter,
    { now, limit }: { readonly now: number; readonly limit: number },
  ): Promise<readonly DueMessage[]> {
    const look = {
      ...filter,
      by: "priority, due_at",
      until: now,
      limit: SPARE[this.#order] * (requireWhole("limit", limit, 0) + 1),
    } as const;
    const rows = await this.#look(on, filter, look);
    const found = claimable(rows);
    if (this.#isWhole(rows, look, filter) || found.length >= limit) return found;
    const more = await this.#firstOfKeys(on, filter, look);
    this.#after = more.after;
    return inOrder([...found, ...more.found], look);
  }

  /** The instant of the first one; too early if a look does not find it. */
  async next(on: Queryable, filter: ClaimFilter): Promise<number | undefined> {
    const limit = this.#order === "key" ? WINDOW : 1;
    const look = { ...filter, by: "due_at", until: EVER, limit } as const;
    const rows = await this.#look(on, filter, look);
    const [first] = claimable(rows);
    if (first !== undefined || this.#isWhole(rows, look, filter)) return first?.dueAt;
    const { found, isWhole } = await this.#firstOfKeys(on, filter, look);
    return isWhole ? inOrder(found, look)[0]?.dueAt : Number(rows.at(-1)?.["due_at"]);
  }

  /** Whether nothing is hidden behind messages that wait for an earlier one. */
  #isWhole(rows: readonly Row[], { limit }: Look, { hasExpired }: ClaimFilter): boolean {
    return this.#order === "none" || rows.length < limit || hasExpired === true;
  }

  async #look(on: Queryable, filter: ClaimFilter, look: Look): Promise<readonly Row[]> {
    const lanes = await this.#lanesOf(on, filter, look);
    return lanes.length === 0 ? [] : await on.query(this.#sql.due(lanes, look));
  }

  async #lanesOf(on: Queryable, filter: ClaimFilter, look: Look): Promise<readonly Lane[]> {
    const lanes: Lane[] = filter.hasExpired === false ? [] : ["expired"];
    if (filter.hasExpired === true) return lanes;
    return [...lanes, ...(await this.#selectedLanes(on, filter, look))];
  }

  /** Each priority, of each topic if the filter selects some. */
  async #selectedLanes(
    on: Queryable,
    { topics, exceptTopics = [] }: ClaimFilter,
    look: Look,
  ): Promise<readonly Lane[]> {
    if (topics === undefined && exceptTopics.length === 0) return lanesOf(undefined);
    const except = new Set(exceptTopics);
    const among = topics && new Set(topics);
    const isSelected = (topic: string): boolean =>
      !except.has(topic) && (among?.has(topic) ?? true);
    if (among !== undefined && among.size * PRIORITIES.length <= LANES)
      return [...among].filter(isSelected).flatMap(lanesOf);
    const rows = await on.query(this.#sql.topics);
    return rows
      .map((row) => ({ ...rankOf(row), topic: textOf(String(row["topic_digits"])) }))
      .filter(({ topic, dueAt }) => dueAt <= look.until && isSelected(topic))
      .sort(comparing(look))
      .slice(0, LANES);
  }

  /**
   * The messages that are the first ones of their keys, of those that were attempted and of some keys.
   *
   * @returns with them the key after which to go on, and whether these are all
   */
  async #firstOfKeys(on: Queryable, { hasExpired }: ClaimFilter, look: Look): Promise<FirstOfKeys> {
    const lanes: Lane[] = hasExpired === false ? ["retrying"] : ["retrying", "expired"];
    const attempted = await on.query(this.#sql.due(lanes, look));
    const after = this.#after;
    const keys = [...(await on.query(this.#sql.firstOfKeys(after, { ...look, limit: KEYS })))];
    let isWhole = keys.length < KEYS;
    if (isWhole && after !== "") {
      const others = await on.query(this.#sql.firstOfKeys("", { ...look, limit: KEYS }));
      isWhole = others.length < KEYS;
      keys.push(...others);
    }
    return {
      found: [...claimable(attempted), ...claimable(keys)],
      after: isWhole ? "" : String(keys.at(-1)?.["key_digits"]),
      isWhole: isWhole && attempted.length < look.limit,
    };
  }
}

interface FirstOfKeys {
  readonly found: readonly DueMessage[];
  readonly after: string;
  readonly isWhole: boolean;
}

/** The first messages of their keys; all without an order. */
function claimable(rows: readonly Row[]): readonly DueMessage[] {
  return rows
    .filter(({ is_first: isFirst }) => isFirst === undefined || Number(isFirst) === 1)
    .map((row) => ({ sequence: sequenceOf(row), ...rankOf(row) }));
}

/** The first ones first, each once. */
function inOrder(messages: readonly DueMessage[], look: Look): readonly DueMessage[] {
  const each = new Map(messages.map((message) => [String(message.sequence), message]));
  return [...each.values()].sort(comparing(look));
}

type Rank = Pick<DueMessage, "priority" | "dueAt">;

function rankOf(row: Row): Rank {
  return { priority: Number(row["priority"]), dueAt: Number(row["due_at"]) };
}

function comparing({ by }: Look): (one: Rank, other: Rank) => number {
  return (one, other) =>
    (by === "due_at" ? 0 : one.priority - other.priority) || one.dueAt - other.dueAt;
}

function lanesOf(topic: string | undefined): readonly Lane[] {
  return PRIORITIES.map((priority) => ({ priority, topic }));
}

/**
 * Locks so many of the messages that were found, but for those that others have locked or claimed since: the first ones,
 * and any others in place of those.
 */
export async function lockFirst(
  tx: Queryable,
  sql: Statements,
  found: readonly DueMessage[],
  { now: until, limit }: { readonly now: number; readonly limit: number },
): Promise<readonly Row[]> {
  const locked: Row[] = [];
  for (const part of [found.slice(0, limit), found.slice(limit)]) {
    const room = limit - locked.length;
    if (part.length === 0 || room === 0) break;
    const text = sql.lockDue(part.map(sequenceOf), { until, limit: room });
    locked.push(...(await tx.query(text)));
  }
  const places = new Map(found.map((message, place) => [String(message.sequence), place]));
  const placeOf = (row: Row): number => places.get(String(sequenceOf(row))) ?? 0;
  return locked.sort((one, other) => placeOf(one) - placeOf(other));
}
