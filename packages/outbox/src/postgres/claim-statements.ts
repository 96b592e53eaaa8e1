import { PRIORITIES } from "../message/schedule.ts";
import type { ClaimFilter, MessageOrder } from "../store/outbox-store.ts";

// Every value is bound. Only constants of this file and the checked prefix are put together. A LATERAL with a LIMIT is a
// loop over an index, whatever the server knows of the table: no statement here may read all that waits.

/** A bound number of milliseconds since the epoch, as the database keeps it. */
export const instant = (parameter: string): string => `to_timestamp(${parameter}::float8 / 1000)`;

/** The milliseconds since the epoch of a column. */
const millisecondsOf = (column: string): string =>
  `(extract(epoch FROM m.${column}) * 1000)::float8 AS ${column}`;

export const COLUMNS: string = [
  "m.id, m.topic, m.key, m.headers, m.payload, m.priority, m.status, m.last_error",
  "m.failed_attempts, m.expired_claims, m.max_attempts, m.initial_delay, m.factor, m.max_delay",
  "m.claimed_by, m.claim_number",
  ...["created_at", "updated_at", "due_at", "expires_at", "claimed_until"].map(millisecondsOf),
].join(", ");

const valueIf = (value: string, ...conditions: string[]): string =>
  `(CASE WHEN ${conditions.join(" AND ")} THEN ${value} END)`;

const UNCLAIMED = "claimed_by IS NULL AND due_at IS NOT NULL";

// An index of an expression serves statements with the same expression, and no others. The server knows little of a queue,
// whose rows are all in another state a minute later. It would take a few conditions for a few rows, which it rather sorts
// than reads in order, or read past a million messages in the order of time to find those of a topic. So each index has an
// expression of its own.

/** When messages of a kind can be claimed, null for the others: as the index by time has it, and the one by topic. */
export interface Kind {
  readonly at: string;
  readonly atByTopic: string;
}

const kindOf = (expired: string): Kind => ({
  at: valueIf("due_at", UNCLAIMED, "NOT parked", expired),
  atByTopic: valueIf("due_at", "NOT parked", expired, UNCLAIMED),
});

/** Messages to claim. */
export const READY: Kind = kindOf("expired_claims <= 0");
/** Messages to claim alone: a claim of them has expired. */
export const ALONE: Kind = kindOf("expired_claims > 0");
/** The key of a message that is parked behind an earlier one; null for the others. */
export const PARKED_KEY: string = valueIf("key", UNCLAIMED, "parked");
/** When a message was saved that is neither delivered nor dead; null for the others. */
export const OPEN_SINCE: string = valueIf("created_at", "due_at IS NOT NULL");
/** The number of messages that are parked, and of keys that are checked, in one statement. */
export const STEP = 1_000;

/** All priorities, in their order. */
const LEVELS = `unnest(ARRAY[${PRIORITIES.join(", ")}])`;
/** The order of messages that are due. */
const FIRST = "priority, due_at";

/** The number of messages that are read in the order of time before topics are looked for. */
const NEAR = 500;

/** The kind of a filter. Its list of topics is a value. */
export interface FilterShape {
  readonly topics: "all" | "listed" | "others";
  readonly hasExpired: boolean | undefined;
}

/** A filter for the text of a statement, and its values. */
export function filterOf({ topics, exceptTopics = [], hasExpired }: ClaimFilter): {
  readonly shape: FilterShape;
  readonly lists: readonly (readonly string[])[];
} {
  if (topics !== undefined) {
    const listed = topics.filter((topic) => !exceptTopics.includes(topic));
    return { shape: { topics: "listed", hasExpired }, lists: [listed] };
  }
  if (exceptTopics.length === 0) return { shape: { topics: "all", hasExpired }, lists: [] };
  return { shape: { topics: "others", hasExpired }, lists: [exceptTopics] };
}

type Limits = Pick<Asked, "until" | "limit">;

interface Asked {
  readonly shape: FilterShape;
  /** The parameter of the list of topics. */
  readonly list: string;
  /** Those that are due then; by default all. */
  readonly until?: string | undefined;
  /** Which are the first: {@link FIRST} of those that are due, `due_at` of those that will be. */
  readonly by: string;
  readonly limit: string;
}

/** The SQL of claims. A filter decides which indexes a statement reads, so it decides the text. */
export class ClaimStatements {
  readonly #message: string;
  readonly #order: MessageOrder;

  constructor(message: string, order: MessageOrder) {
    this.#message = message;
    this.#order = order;
  }

  /**
   * $1 relay, $2 until, $3 now, $4 limit, $5 bytes, $6 topics. `found` is computed once, or more rows could be locked
   * than are taken.
   */
  claim(shape: FilterShape): string {
    const message = this.#message;
    return `
      WITH RECURSIVE ${this.#found(shape)},
      counted AS (
        SELECT id, row_number() OVER earlier AS place, sum(bytes) OVER earlier AS bytes FROM found
        WINDOW earlier AS (ORDER BY ${FIRST}, sequence)),
      m AS (
        UPDATE ${message} SET
          claimed_by = $1, claimed_until = ${instant("$2")}, claim_number = claim_number + 1
        WHERE id = ANY (ARRAY(
          SELECT id FROM counted WHERE $5::float8 IS NULL OR place = 1 OR bytes <= $5::float8))
        RETURNING ${message}.*
      )
      SELECT ${COLUMNS}${this.#order === "key" ? `, ${this.#isDisordered()} AS is_disordered` : ""}
      FROM m ORDER BY m.priority, m.due_at, m.sequence`;
  }

  /** The messages to take, locked. Those that others have locked are left out. */
  #found(shape: FilterShape): string {
    const { topics, hasExpired } = shape;
    const columns = "m.id, m.priority, m.due_at, m.sequence, octet_length(m.payload) AS bytes";
    const until = instant("$3");
    const isPlain = this.#order === "none" && topics === "all" && hasExpired !== undefined;
    if (isPlain) {
      const { at } = hasExpired ? ALONE : READY;
      return `
        found AS MATERIALIZED (
          SELECT m.* FROM ${LEVELS} level CROSS JOIN LATERAL (
            SELECT ${columns} FROM ${this.#message} m WHERE m.priority = level AND ${at} <= ${until}
            ORDER BY ${at} LIMIT $4 FOR UPDATE SKIP LOCKED) m
          LIMIT $4)`;
    }
    const asked = { shape, list: "$6", until, by: FIRST, limit: "4 * $4 + 24" };
    return `
      ${this.#pool(asked)},
      found AS MATERIALIZED (
        SELECT m.* FROM pool CROSS JOIN LATERAL (
          SELECT ${columns} FROM ${this.#message} m
          WHERE m.id = pool.id AND ${isStillDue(shape, until)} FOR UPDATE SKIP LOCKED) m
        WHERE pool.is_first LIMIT $4)`;
  }

  /**
   * $1 topics. Few messages that are not parked are not the first of their key: they are parked when they are due. If all
   * that it reads are such, there may be more.
   */
  nextDue(shape: FilterShape): string {
    const limit = this.#order === "key" ? "100" : "1";
    const next = `
      SELECT
        (extract(epoch FROM coalesce(
          min(due_at) FILTER (WHERE is_first),
          min(due_at) FILTER (WHERE count >= ${limit}))) * 1000)::float8 AS next_due,
        (SELECT true FROM ${this.#message} WHERE ${PARKED_KEY} > '' ORDER BY ${PARKED_KEY} LIMIT 1) AS has_parked
      FROM (SELECT *, count(*) OVER () AS count FROM pool) pool`;
    return `WITH RECURSIVE ${this.#pool({ shape, list: "$1", by: "due_at", limit })} ${next}`;
  }

  /** The earliest of a filter, and whether each is the first of its key. */
  #pool(asked: Asked): string {
    const [lanes, rows] = this.#rows(asked);
    const isFirst =
      this.#order === "key" ? `(${this.#firstOf("m.key", "b.sequence")}) = m.sequence` : "true";
    return `${lanes}
      pool AS MATERIALIZED (
        SELECT m.*, ${isFirst} AS is_first FROM (${rows}) m ORDER BY ${asked.by} LIMIT ${asked.limit})`;
  }

  /** Rows of each kind that a filter allows, and the common table expressions they need. */
  #rows(asked: Asked): readonly [string, string] {
    const { topics, hasExpired } = asked.shape;
    const kinds = [READY, ALONE].filter(
      (_, i) => hasExpired === undefined || hasExpired === (i === 1),
    );
    if (topics === "all") {
      const rows = kinds.map(({ at }) => this.#earliest(at, asked));
      return ["", rows.join(" UNION ALL ")];
    }
    const parts = kinds.map((kind, i) =>
      topics === "listed" ? this.#listed(i, kind, asked) : this.#others(i, kind, asked),
    );
    return [
      parts.map(([ctes]) => `${ctes},`).join(""),
      parts.map(([, rows]) => rows).join(" UNION ALL "),
    ];
  }

  /** The earliest of each priority. */
  #earliest(at: string, asked: Limits): string {
    return `
      SELECT m.* FROM ${LEVELS} lane (priority)
      CROSS JOIN LATERAL (${this.#earliestAmong("m.priority = lane.priority", at, asked)}) m`;
  }

  #earliestOfLane(at: string, asked: Limits): string {
    const among = "m.status = lane.status AND m.topic = lane.topic AND m.priority = lane.priority";
    return this.#earliestAmong(among, at, asked);
  }

  #earliestAmong(among: string, at: string, { until = "'infinity'", limit }: Limits): string {
    return `
      SELECT m.id, m.key, m.sequence, m.priority, m.due_at, m.topic FROM ${this.#message} m
      WHERE ${among} AND ${at} <= ${until} ORDER BY ${at} LIMIT ${limit}`;
  }

  #listed(i: number, { atByTopic }: Kind, asked: Asked): readonly [string, string] {
    const lanes = `lane_${i} AS (
      SELECT DISTINCT status, topic, priority
      FROM unnest(${asked.list}::text[]) topic, unnest(ARRAY['pending', 'retrying']) status, ${LEVELS} priority)`;
    return [
      lanes,
      `SELECT m.* FROM lane_${i} lane CROSS JOIN LATERAL (${this.#earliestOfLane(atByTopic, asked)}) m`,
    ];
  }

  /**
   * Messages of the topics that are not in a list. If those that are due first belong to the list, it steps from one of the
   * other topics to the next in the index, so that those in the list cost nothing, however many messages they have. The
   * first messages of all are in the topics whose first message is among the first.
   */
  #others(i: number, { at, atByTopic }: Kind, asked: Asked): readonly [string, string] {
    const { list, until, by, limit } = asked;
    const next = (after: string): string => `
      SELECT status, topic, priority FROM ${this.#message}
      WHERE ${atByTopic} IS NOT NULL AND ${after} ORDER BY status, topic, priority LIMIT 1`;
    const isEnough = `(SELECT count(*) FROM near_${i}) >= ${limit} OR (SELECT count(*) FROM all_${i}) < ${NEAR} + ${limit}`;
    const firstBy = by === FIRST ? "first.priority, first.due_at" : "first.due_at";
    const ctes = `
      all_${i} AS MATERIALIZED (
        SELECT m.* FROM (${this.#earliest(at, { until, limit: `${NEAR} + ${limit}` })}) m
        ORDER BY ${by} LIMIT ${NEAR} + ${limit}),
      near_${i} AS MATERIALIZED (
        SELECT * FROM all_${i} WHERE topic <> ALL(${list}::text[]) ORDER BY ${by} LIMIT ${limit}),
      every_${i} AS (
        (${next(`NOT (${isEnough})`)})
        UNION ALL
        SELECT next.* FROM every_${i} last
        CROSS JOIN LATERAL (${next("(status, topic, priority) > (last.status, last.topic, last.priority)")}) next),
      lane_${i} AS MATERIALIZED (
        SELECT lane.* FROM every_${i} lane
        CROSS JOIN LATERAL (${this.#earliestOfLane(atByTopic, { until, limit: "1" })}) first
        WHERE lane.topic <> ALL(${list}::text[]) ORDER BY ${firstBy} LIMIT ${limit})`;
    return [
      ctes,
      `SELECT * FROM near_${i} WHERE ${isEnough}
      UNION ALL
      SELECT m.* FROM lane_${i} lane CROSS JOIN LATERAL (${this.#earliestOfLane(atByTopic, asked)}) m`,
    ];
  }

  /** The first message of a key that is not delivered or dead. */
  #firstOf(key: string, columns: string): string {
    return `
      SELECT ${columns} FROM ${this.#message} b
      WHERE b.key = ${key} AND b.due_at IS NOT NULL ORDER BY b.key, b.sequence LIMIT 1`;
  }

  /**
   * Parks messages that are due and not the first of their key, so that no claim reads them again: $1 now, $2 topics.
   * The lock of an earlier one keeps it from its end until they are parked: its end unparks the next. Waits for no lock.
   */
  park(shape: FilterShape): string {
    const message = this.#message;
    const until = instant("$1");
    const limit = shape.topics === "all" ? STEP : STEP / 10; // of each topic and priority
    return `
      WITH RECURSIVE ${this.#pool({ shape, list: "$2", until, by: FIRST, limit: `${limit}` })},
      earlier AS MATERIALIZED (
        SELECT b.* FROM (SELECT DISTINCT key FROM pool WHERE NOT is_first) blocked
        CROSS JOIN LATERAL (${this.#firstOf("blocked.key", "b.key, b.sequence")} FOR SHARE SKIP LOCKED) b),
      later AS MATERIALIZED (
        SELECT m.id FROM pool JOIN earlier USING (key)
        CROSS JOIN LATERAL (
          SELECT id FROM ${message} m
          WHERE m.id = pool.id AND ${isStillDue(shape, until)} FOR UPDATE SKIP LOCKED) m
        WHERE pool.sequence > earlier.sequence),
      parked AS (
        UPDATE ${message} SET parked = true WHERE id = ANY (ARRAY(SELECT id FROM later)) RETURNING 1)
      SELECT count(*)::integer AS parked FROM parked`;
  }

  /** $1 keys, of which a message was delivered or is dead: in a statement after that, to see what was parked meanwhile. */
  unpark(): string {
    return `
      UPDATE ${this.#message} SET parked = false
      WHERE parked AND id = ANY (ARRAY(
        SELECT next.id FROM unnest($1::text[]) ended (key)
        CROSS JOIN LATERAL (${this.#firstOf("ended.key", "b.id")}) next))`;
  }

  /**
   * Unparks messages that are the first of their key, though no outcome said so: another program removed or changed the
   * earlier ones, or a relay of an older version sent them. $1 is the last key of the step before.
   */
  heal(): string {
    const message = this.#message;
    const next = (after: string): string => `
      SELECT key FROM ${message} WHERE ${PARKED_KEY} > ${after} ORDER BY ${PARKED_KEY} LIMIT 1`;
    const stuck = (id: string): string => `
      SELECT m.id FROM ${message} m WHERE m.id = ${id} AND m.parked FOR UPDATE SKIP LOCKED`;
    return `
      WITH RECURSIVE every AS (
        (${next("$1::text")})
        UNION ALL
        SELECT next.* FROM every last CROSS JOIN LATERAL (${next("last.key")}) next),
      step AS MATERIALIZED (SELECT key FROM every LIMIT ${STEP}),
      stuck AS MATERIALIZED (
        SELECT m.id FROM step CROSS JOIN LATERAL (${this.#firstOf("step.key", "b.id")}) first
        CROSS JOIN LATERAL (${stuck("first.id")}) m),
      healed AS (
        UPDATE ${message} SET parked = false WHERE id = ANY (ARRAY(SELECT id FROM stuck)) RETURNING 1)
      SELECT (SELECT count(*) FROM healed)::integer AS healed, count(*)::integer AS keys, max(key) AS last
      FROM step`;
  }

  /** Without an order no message is to be parked: some are, if there was an order before. */
  unparkAll(): string {
    return `
      UPDATE ${this.#message} SET parked = false
      WHERE id = ANY (ARRAY(
        SELECT id FROM ${this.#message} WHERE ${PARKED_KEY} > ''
        ORDER BY ${PARKED_KEY} LIMIT ${STEP} FOR UPDATE SKIP LOCKED))`;
  }

  /**
   * Whether a message of the key has a number that the sequence has not reached, or the same number: the next message
   * would overtake it. Null if this user may not read the sequence.
   */
  #isDisordered(): string {
    const sequence = `pg_get_serial_sequence('${this.#message}', 'sequence')`;
    const last = `CASE WHEN has_sequence_privilege(${sequence}, 'SELECT, USAGE')
      THEN coalesce(pg_sequence_last_value(${sequence}::regclass), 0) END`;
    // The last of the key in the order of the index: the server takes an EXISTS for one that a scan of the table finds soon.
    return `((
      SELECT b.sequence FROM ${this.#message} b
      WHERE b.key = m.key AND b.due_at IS NOT NULL ORDER BY b.key DESC, b.sequence DESC LIMIT 1) > (SELECT ${last})
      OR EXISTS (
        SELECT FROM ${this.#message} b
        WHERE b.key = m.key AND b.due_at IS NOT NULL AND b.sequence = m.sequence AND b.id <> m.id))`;
  }
}

/** Whether a message that was due is so now that it is locked. No index has this expression: it is found by its id. */
function isStillDue({ hasExpired }: FilterShape, until: string): string {
  const expired = hasExpired === undefined ? "true" : `(expired_claims > 0) = ${hasExpired}`;
  return valueIf("true", UNCLAIMED, "NOT parked", `due_at <= ${until}`, expired);
}
