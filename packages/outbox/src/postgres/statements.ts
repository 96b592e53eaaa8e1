import type { MessageOrder } from "../store/outbox-store.ts";

// Every value is bound. Only constants of this file and the checked prefix are put together.

/** A bound number of milliseconds since the epoch, as the database keeps it. */
const instant = (parameter: string): string => `to_timestamp(${parameter}::float8 / 1000)`;

/** The milliseconds since the epoch of a column. */
const millisecondsOf = (column: string): string =>
  `(extract(epoch FROM m.${column}) * 1000)::float8 AS ${column}`;

const COLUMNS = [
  "m.id, m.creator, m.editor, m.deleted, m.message_status, m.last_error",
  "m.current_retry_times, m.lost_attempts, m.max_retry_times, m.init_backoff, m.backoff_factor",
  "m.queue_name, m.exchange_name, m.exchange_type, m.routing_key",
  "m.business_module, m.business_key, m.claimed_by, m.claim_number, c.content",
  ...["create_time", "edit_time", "next_schedule_time", "claimed_until"].map(millisecondsOf),
].join(", ");

/** Word for word the condition of two indexes, or they would not be used. */
const OPEN = "NOT deleted AND message_status NOT IN ('success', 'dead')";

/** Word for word the condition of the index `message_due`. */
const UNCLAIMED = `claimed_by IS NULL AND ${OPEN}`;

type ClaimStatement = "claimSaved" | "claimDue" | "nextDue";
type OutcomeStatement = "markSuccess" | "markFail" | "releaseOrphan" | "release" | "bury";
type ReadStatement = "orphans" | "exists" | "find" | "backlog" | "counts";
type WriteStatement =
  | "insert"
  | "insertAndNotify"
  | "advance"
  | "fence"
  | "replay"
  | "removeConfirmed";

/** The SQL of a `PostgresStore`. */
export type Statements = Readonly<
  Record<ClaimStatement | OutcomeStatement | ReadStatement | WriteStatement, string>
>;

/** The channel that the ids of committed messages come on. */
export function channelOf(prefix: string): string {
  return `${prefix}saved`;
}

export function statementsOf(prefix: string, order: MessageOrder): Statements {
  const message = `${prefix}message`;
  return {
    ...claimStatements(prefix, order),
    insert: insertStatement(prefix, "id"),
    insertAndNotify: insertStatement(prefix, `pg_notify('${channelOf(prefix)}', id::text)`),
    ...outcomeStatements(message),
    /** The next message of each key is due at once. */
    advance: `
      UPDATE ${message} SET next_schedule_time = ${instant("$2")}
      WHERE claim_number = 0 AND ${OPEN} AND id IN (
        SELECT (
          SELECT n.id FROM ${message} n
          WHERE n.business_module = m.business_module AND n.business_key = m.business_key
            AND n.sequence > m.sequence AND ${OPEN}
          ORDER BY n.sequence LIMIT 1)
        FROM ${message} m WHERE m.id = ANY($1::uuid[]))`,
    /** Changes nothing if there is a newer token. The holder of an older one waits here for its end. */
    fence: `
      INSERT INTO ${prefix}fence (name, token) VALUES ($1, $2)
      ON CONFLICT (name) DO UPDATE SET token = excluded.token
      WHERE ${prefix}fence.token <= excluded.token
      RETURNING token`,
    replay: `
      UPDATE ${message} SET
        message_status = 'pending', current_retry_times = 0, lost_attempts = 0,
        next_schedule_time = ${instant("$3")}, editor = $2, edit_time = ${instant("$3")}
      WHERE message_status = 'dead' AND NOT deleted AND ($1::uuid[] IS NULL OR id = ANY($1::uuid[]))
      RETURNING id`,
    /** The content goes with its message. */
    removeConfirmed: `
      DELETE FROM ${message} WHERE id IN (
        SELECT id FROM ${message}
        WHERE message_status = 'success' AND edit_time < ${instant("$1")}
        ORDER BY edit_time LIMIT $2 FOR UPDATE SKIP LOCKED)
      RETURNING id`,
    ...readStatements(prefix),
  };
}

function readStatements(prefix: string): Record<ReadStatement, string> {
  const message = `${prefix}message`;
  const joined = `${message} m LEFT JOIN ${prefix}content c ON c.message_id = m.id`;
  return {
    orphans: `
      SELECT ${COLUMNS} FROM ${joined}
      WHERE m.claimed_by IS NOT NULL AND m.claimed_until <= ${instant("$1")}
      ORDER BY m.claimed_until LIMIT $2`,
    exists: `SELECT 1 FROM ${message} WHERE id = $1`,
    find: `SELECT ${COLUMNS} FROM ${joined} WHERE m.id = $1`,
    backlog: `
      SELECT message_status, count(*)::integer AS messages FROM ${message} WHERE ${OPEN}
      GROUP BY message_status
      UNION ALL
      SELECT 'dead', count(*)::integer FROM ${message} WHERE message_status = 'dead' AND NOT deleted`,
    counts: `
      SELECT message_status, count(*)::integer AS messages FROM ${message}
      WHERE NOT deleted GROUP BY message_status`,
  };
}

function claimStatements(prefix: string, order: MessageOrder): Record<ClaimStatement, string> {
  const message = `${prefix}message`;
  /** No message of the same key that was saved earlier is still to be sent. */
  const isFirst = `NOT EXISTS (
    SELECT FROM ${message} b
    WHERE b.business_module = m.business_module AND b.business_key = m.business_key
      AND b.sequence < m.sequence AND NOT b.deleted AND b.message_status NOT IN ('success', 'dead'))`;
  const inOrder = order === "businessKey" ? `AND ${isFirst}` : "";
  /** `found` is a list of ids. It is computed once, or more rows could be locked than are taken. */
  const claimAll = (found: string): string => `
    WITH found AS MATERIALIZED (${found}),
    m AS (
      UPDATE ${message} SET
        claimed_by = $1, claimed_until = ${instant("$2")}, claim_number = claim_number + 1
      FROM found WHERE ${message}.id = found.id
      RETURNING ${message}.*
    )
    SELECT ${COLUMNS} FROM m LEFT JOIN ${prefix}content c ON c.message_id = m.id
    ORDER BY m.next_schedule_time, m.sequence`;
  return {
    /**
     * The condition of {@link UNCLAIMED} for messages that were never claimed, in other terms. With the same
     * terms, a planner that estimates a nearly empty table reads all waiting rows instead of a few ids.
     */
    claimSaved: claimAll(`
      SELECT id FROM ${message} m
      WHERE id = ANY($3::uuid[]) AND claim_number = 0 AND NOT deleted
        AND next_schedule_time IS NOT NULL ${inOrder}
      FOR UPDATE SKIP LOCKED`),
    claimDue: claimAll(`
      SELECT id FROM ${message} m
      WHERE ${UNCLAIMED} AND next_schedule_time <= ${instant("$3")} ${inOrder}
      ORDER BY next_schedule_time LIMIT $4
      FOR UPDATE SKIP LOCKED`),
    nextDue: `
      SELECT (extract(epoch FROM next_schedule_time) * 1000)::float8 AS next_due
      FROM ${message} m WHERE ${UNCLAIMED} ${inOrder} ORDER BY next_schedule_time LIMIT 1`,
  };
}

/** Uses each parameter once, and in order, so that it can be taken apart for the tag of a query layer. */
function insertStatement(prefix: string, last: string): string {
  return `
    WITH given AS (
      SELECT $1::uuid AS id, ${instant("$2")} AS now, $3::text AS creator,
        $4::integer AS max_retry_times, ${instant("$5")} AS next_schedule_time,
        $6::float8 AS init_backoff, $7::float8 AS backoff_factor, $8::text AS queue_name,
        $9::text AS exchange_name, $10::text AS exchange_type, $11::text AS routing_key,
        $12::text AS business_module, $13::text AS business_key, $14::text AS content
    ), message AS (
      INSERT INTO ${prefix}message (
        id, create_time, edit_time, creator, editor, message_status, max_retry_times,
        next_schedule_time, init_backoff, backoff_factor, queue_name, exchange_name, exchange_type,
        routing_key, business_module, business_key
      )
      SELECT id, now, now, creator, creator, 'pending', max_retry_times, next_schedule_time,
        init_backoff, backoff_factor, queue_name, exchange_name, exchange_type, routing_key,
        business_module, business_key
      FROM given
    ), content AS (
      INSERT INTO ${prefix}content (message_id, content) SELECT id, content FROM given
    )
    SELECT ${last} FROM given`;
}

function outcomeStatements(message: string): Record<OutcomeStatement, string> {
  const failed = (status: string, counted: string): string => `
    UPDATE ${message} SET
      message_status = CASE WHEN $6::float8 IS NULL THEN 'dead' ELSE ${status} END,
      ${counted},
      next_schedule_time = ${instant("$6")}, last_error = $5,
      claimed_by = NULL, claimed_until = NULL, editor = $3, edit_time = ${instant("$4")}
    WHERE id = $1 AND claim_number = $2 AND claimed_by IS NOT NULL
    RETURNING id`;
  return {
    /** Also right if a claim has ended meanwhile, as long as there is no newer one. */
    markSuccess: `
      UPDATE ${message} m SET
        message_status = 'success', next_schedule_time = NULL, claimed_by = NULL, claimed_until = NULL,
        editor = mark.editor, edit_time = ${instant("mark.now")}
      FROM unnest($1::uuid[], $2::integer[], $3::text[], $4::float8[]) AS mark (id, number, editor, now)
      WHERE m.id = mark.id AND m.claim_number = mark.number
      RETURNING m.id, m.claim_number AS number`,
    /** Asks for the claim too: sent twice, it must not count twice. */
    markFail: failed(
      "'failed'",
      "current_retry_times = least(current_retry_times + 1, max_retry_times)",
    ),
    releaseOrphan: failed("message_status", "lost_attempts = lost_attempts + 1"),
    release: `
      UPDATE ${message} SET claimed_by = NULL, claimed_until = NULL
      WHERE id = $1 AND claim_number = $2 AND claimed_by IS NOT NULL
      RETURNING id`,
    /** For a row that is not a message. */
    bury: `
      UPDATE ${message} SET
        message_status = 'dead', next_schedule_time = NULL, claimed_by = NULL, claimed_until = NULL,
        edit_time = ${instant("$3")}, last_error = $4
      WHERE id = $1 AND claim_number = $2`,
  };
}
