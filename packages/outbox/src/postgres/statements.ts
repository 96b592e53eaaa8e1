import type { MessageOrder } from "../store/outbox-store.ts";

// Every value is bound. Only constants of this file and the checked prefix are put together.

/** A bound number of milliseconds since the epoch, as the database keeps it. */
const instant = (parameter: string): string => `to_timestamp(${parameter}::float8 / 1000)`;

/** The milliseconds since the epoch of a column. */
const millisecondsOf = (column: string): string =>
  `(extract(epoch FROM m.${column}) * 1000)::float8 AS ${column}`;

const COLUMNS = [
  "m.id, m.topic, m.key, m.headers, m.payload, m.status, m.last_error",
  "m.failed_attempts, m.expired_claims, m.max_attempts, m.initial_delay, m.factor",
  "m.claimed_by, m.claim_number",
  ...["created_at", "updated_at", "due_at", "claimed_until"].map(millisecondsOf),
].join(", ");

/** Word for word the condition of the index `message_due`. */
const UNCLAIMED = "claimed_by IS NULL AND due_at IS NOT NULL";

/** The dead letters of a selection: ids, a topic, or all. */
const SELECTED = `status = 'dead'
  AND ($1::uuid[] IS NULL OR id = ANY($1::uuid[])) AND ($2::text IS NULL OR topic = $2)`;

type ClaimStatement =
  | "claim"
  | "nextDue"
  | "expired"
  | "releaseUnread"
  | "write"
  | "recover"
  | "deadLetter"
  | "fence";
type DeadLetterStatement = "deadLetters" | "replay" | "discard";
type OtherStatement =
  | "insert"
  | "insertNew"
  | "now"
  | "isolation"
  | "notify"
  | "find"
  | "backlog"
  | "counts"
  | "removeDelivered";

/** The SQL of a `PostgresStore`. */
export type Statements = Readonly<
  Record<ClaimStatement | DeadLetterStatement | OtherStatement, string>
>;

/** The channel of notifications. */
export function channelOf(prefix: string): string {
  return `${prefix}saved`;
}

export function statementsOf(prefix: string, order: MessageOrder): Statements {
  const message = `${prefix}message`;
  /**
   * Uses each parameter once, and in order, so that it can be taken apart for the tag of a query layer. A message of a
   * process whose clock is ahead is due now by the clock of the database, or relays would wait.
   */
  const insert = `
      INSERT INTO ${message} (
        id, topic, key, headers, payload, max_attempts, initial_delay, factor, created_at, updated_at, due_at
      )
      SELECT $1::uuid, $2::text, $3::text, $4::text, $5::text, $6::integer, $7::float8, $8::float8,
        now, now, least(now, clock_timestamp())
      FROM ${instant("$9")} AS now`;
  return {
    ...claimStatements(message, order),
    ...outcomeStatements(prefix),
    ...deadLetterStatements(message),
    now: "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now",
    isolation: "SELECT current_setting('default_transaction_isolation') AS level",
    insert,
    insertNew: `${insert} ON CONFLICT (id) DO NOTHING RETURNING id`,
    /** Without a flush to disk: the lock of all notifications of the server is held until the commit is over. */
    notify: `SELECT set_config('synchronous_commit', 'off', true), pg_notify('${channelOf(prefix)}', '')`,
    find: `SELECT ${COLUMNS} FROM ${message} m WHERE id = $1`,
    backlog: `
      SELECT status, count(*)::integer AS messages FROM ${message} WHERE due_at IS NOT NULL GROUP BY status
      UNION ALL
      SELECT 'dead', count(*)::integer FROM ${message} WHERE status = 'dead'`,
    counts: `SELECT status, count(*)::integer AS messages FROM ${message} GROUP BY status`,
    removeDelivered: `
      DELETE FROM ${message} WHERE id IN (
        SELECT id FROM ${message}
        WHERE status = 'delivered' AND updated_at < ${instant("$1")}
        ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED)
      RETURNING id`,
  };
}

function claimStatements(
  message: string,
  order: MessageOrder,
): Record<"claim" | "nextDue" | "expired" | "releaseUnread", string> {
  /** No message of the same key that was saved earlier is still to be sent. */
  const isFirst = `NOT EXISTS (
    SELECT FROM ${message} b
    WHERE b.key = m.key AND b.sequence < m.sequence AND b.due_at IS NOT NULL)`;
  const inOrder = order === "key" ? `AND ${isFirst}` : "";
  const selected = (topics: string, exceptTopics: string, hasExpired: string): string => `
    AND (${topics}::text[] IS NULL OR topic = ANY(${topics}::text[]))
    AND topic <> ALL(${exceptTopics}::text[])
    AND (${hasExpired}::boolean IS NULL OR (expired_claims > 0) = ${hasExpired}::boolean)`;
  return {
    /** `found` is computed once, or more rows could be locked than are taken. */
    claim: `
      WITH found AS MATERIALIZED (
        SELECT id, due_at, sequence, octet_length(payload) AS bytes FROM ${message} m
        WHERE ${UNCLAIMED} AND due_at <= ${instant("$3")} ${selected("$5", "$6", "$7")} ${inOrder}
        ORDER BY due_at LIMIT $4
        FOR UPDATE SKIP LOCKED),
      counted AS (
        SELECT id, row_number() OVER earlier AS place, sum(bytes) OVER earlier AS bytes FROM found
        WINDOW earlier AS (ORDER BY due_at, sequence)),
      m AS (
        UPDATE ${message} SET
          claimed_by = $1, claimed_until = ${instant("$2")}, claim_number = claim_number + 1
        FROM counted
        WHERE ${message}.id = counted.id
          AND ($8::float8 IS NULL OR counted.place = 1 OR counted.bytes <= $8::float8)
        RETURNING ${message}.*
      )
      SELECT ${COLUMNS} FROM m ORDER BY m.due_at, m.sequence`,
    nextDue: `
      SELECT (extract(epoch FROM due_at) * 1000)::float8 AS next_due
      FROM ${message} m WHERE ${UNCLAIMED} ${selected("$1", "$2", "$3")} ${inOrder}
      ORDER BY due_at LIMIT 1`,
    /** For claims that this process cannot read. */
    releaseUnread: `
      UPDATE ${message} SET claimed_by = NULL, claimed_until = NULL
      WHERE claimed_by = $1 AND claimed_until = ${instant("$2")}`,
    expired: `
      SELECT ${COLUMNS} FROM ${message} m
      WHERE claimed_by IS NOT NULL AND claimed_until <= ${instant("$1")}
      ORDER BY claimed_until LIMIT $2`,
  };
}

function outcomeStatements(
  prefix: string,
): Record<"write" | "recover" | "deadLetter" | "fence", string> {
  const message = `${prefix}message`;
  return {
    /**
     * A second failure or release of a claim is refused, or it would count twice. A delivery is right even after
     * its claim has ended, as long as there is no newer one.
     */
    write: `
      UPDATE ${message} m SET
        status = CASE
          WHEN o.type = 'delivered' THEN 'delivered'
          WHEN o.type = 'released' THEN m.status
          WHEN o.due_at IS NULL THEN 'dead' ELSE 'retrying' END,
        due_at = CASE o.type
          WHEN 'released' THEN m.due_at WHEN 'failed' THEN ${instant("o.due_at")} END,
        failed_attempts = CASE o.type
          WHEN 'failed' THEN least(m.failed_attempts + 1, m.max_attempts) ELSE m.failed_attempts END,
        last_error = CASE o.type WHEN 'failed' THEN o.error ELSE m.last_error END,
        updated_at = CASE o.type WHEN 'released' THEN m.updated_at ELSE ${instant("o.now")} END,
        claimed_by = NULL, claimed_until = NULL
      FROM unnest($1::uuid[], $2::integer[], $3::text[], $4::float8[], $5::float8[], $6::text[])
        AS o (id, number, type, now, due_at, error)
      WHERE m.id = o.id AND m.claim_number = o.number
        AND (o.type = 'delivered' OR m.claimed_by IS NOT NULL)
      RETURNING m.id, m.claim_number AS number`,
    recover: `
      UPDATE ${message} SET
        status = CASE WHEN $4::float8 IS NULL THEN 'dead' ELSE status END,
        expired_claims = expired_claims + 1,
        due_at = ${instant("$4")}, last_error = $5, updated_at = ${instant("$3")},
        claimed_by = NULL, claimed_until = NULL
      WHERE id = $1 AND claim_number = $2 AND claimed_by IS NOT NULL
      RETURNING id`,
    /** For a row that is not a message. */
    deadLetter: `
      UPDATE ${message} SET
        status = 'dead', due_at = NULL, claimed_by = NULL, claimed_until = NULL,
        updated_at = ${instant("$3")}, last_error = $4
      WHERE id = $1 AND claim_number = $2`,
    /** Changes nothing if there is a newer token. The holder of an older one waits here for its end. */
    fence: `
      INSERT INTO ${prefix}fence (name, token) VALUES ($1, $2)
      ON CONFLICT (name) DO UPDATE SET token = excluded.token
      WHERE ${prefix}fence.token <= excluded.token
      RETURNING token`,
  };
}

function deadLetterStatements(message: string): Record<DeadLetterStatement, string> {
  return {
    deadLetters: `
      SELECT ${COLUMNS} FROM ${message} m
      WHERE status = 'dead' AND ($1::text IS NULL OR topic = $1)
        AND ($2::uuid IS NULL OR (updated_at, id) > (${instant("$3")}, $2::uuid))
      ORDER BY updated_at, id LIMIT $4`,
    replay: `
      UPDATE ${message} SET
        status = 'pending', failed_attempts = 0, expired_claims = 0,
        due_at = least(${instant("$3")}, clock_timestamp()), updated_at = ${instant("$3")}
      WHERE ${SELECTED}
      RETURNING id`,
    discard: `DELETE FROM ${message} WHERE ${SELECTED} RETURNING id`,
  };
}
