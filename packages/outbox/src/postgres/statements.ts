import type { PendingMessage } from "../message/pending-message.ts";
import { BACKLOG_LIMIT } from "../store/outbox-store.ts";
import { activityOf } from "./activity-statement.ts";
import {
  ALONE,
  COLUMNS,
  instant,
  type Kind,
  OPEN_SINCE,
  PARKED_KEY,
  READY,
} from "./claim-statements.ts";

// Every value is bound. Only constants of this file and the checked prefix are put together.

/** The dead letters of a selection: ids, a topic, or all. */
const SELECTED = `status = 'dead'
  AND ($1::uuid[] IS NULL OR id = ANY($1::uuid[])) AND ($2::text IS NULL OR topic = $2)`;

type ClaimStatement = "expired" | "releaseUnread" | "write" | "recover" | "deadLetter" | "fence";
type DeadLetterStatement = "deadLetters" | "replay" | "discard";
type OtherStatement =
  | "cancel"
  | "takeOnce"
  | "removeOnce"
  | "holders"
  | "now"
  | "isolation"
  | "restriction"
  | "notify"
  | "find"
  | "backlog"
  | "oldest"
  | "activity"
  | "counts"
  | "removeDelivered"
  | "pause"
  | "resume"
  | "pausedTopics";

/** The SQL of a `PostgresStore`. */
export type Statements = Readonly<
  Record<ClaimStatement | DeadLetterStatement | OtherStatement, string>
>;

/** The channel of notifications. Outboxes of several schemas share it: the schema is the payload. */
export function channelOf(prefix: string): string {
  return `${prefix}saved`;
}

type Value = string | number | null;

/** The parameters of an insert: the name, type and value of each. */
const GIVEN: readonly (readonly [string, string, (pending: PendingMessage) => Value])[] = [
  ["id", "uuid", ({ message }) => message.id],
  ["topic", "text", ({ message }) => message.topic],
  ["key", "text", ({ message }) => message.key],
  ["headers", "text", ({ headers }) => headers],
  ["payload", "text", ({ payload }) => payload],
  ["priority", "smallint", ({ message }) => message.priority],
  ["max_attempts", "integer", ({ message }) => message.maxAttempts],
  ["initial_delay", "float8", ({ message }) => message.backoff.duration],
  ["factor", "float8", ({ message }) => message.backoff.factor],
  ["max_delay", "float8", ({ message }) => message.backoff.cap],
  ["expires", "float8", ({ message }) => message.expiresAt ?? 0],
  ["saved", "float8", ({ message }) => message.createdAt],
  ["delay", "float8", ({ delay }) => delay],
  ["not_before", "float8", ({ notBefore }) => notBefore],
];
const UNIQUE: typeof GIVEN = [
  ["unique_key", "text", ({ unique }) => unique?.key ?? null],
  ["within", "float8", ({ unique }) => unique?.within ?? null],
];

/** What an insert saves: one message or a list, and whether any has a unique key. */
export interface InsertShape {
  readonly isList: boolean;
  readonly hasUnique: boolean;
}

const givenTo = ({ hasUnique }: InsertShape): typeof GIVEN =>
  hasUnique ? [...GIVEN, ...UNIQUE] : GIVEN;

/** A time that is given, but not after that of the database: the clock of a process may be ahead. */
const noLater = (milliseconds: string): string =>
  `least(${instant(milliseconds)}, clock_timestamp())`;

const after = (milliseconds: string): string =>
  `${milliseconds}::float8 * interval '1 millisecond'`;

/**
 * Saves messages that are not there yet. It uses each parameter once, and in order, so that it can be taken apart for the tag
 * of a query layer. Without a list and a key, it reads no column: a role with INSERT alone may run it. A partitioned table
 * takes it.
 */
export function insertSql(prefix: string, shape: InsertShape): string {
  const { isList, hasUnique } = shape;
  const given = givenTo(shape);
  const names = given.map(([name]) => name).join(", ");
  const source = isList
    ? `SELECT * FROM unnest(${given.map(([, type], i) => `$${i + 1}::${type}[]`).join(", ")})
        WITH ORDINALITY AS given (${names}, place)`
    : `SELECT ${given.map(([name, type], i) => `$${i + 1}::${type} AS ${name}`).join(", ")}, 1 AS place`;
  const [ctes, among] = hasUnique
    ? [`${takenSql(prefix)},`, "WHERE unique_key IS NULL OR id IN (SELECT message_id FROM taken)"]
    : ["", ""];
  const columns =
    "id, topic, key, headers, payload, priority, max_attempts, initial_delay, factor, max_delay";
  return `
      WITH given AS (${source}),
      ${ctes}
      due AS (
        SELECT *, greatest(${instant("not_before")}, ${noLater("saved")} + ${after("delay")}) AS due_at FROM given)
      INSERT INTO ${prefix}message (${columns}, expires_at, created_at, updated_at, due_at)
      SELECT ${columns}, ${instant("nullif(expires, 0)")}, ${instant("saved")}, ${instant("saved")}, due_at
      FROM due ${among} ORDER BY place
      ON CONFLICT DO NOTHING`;
}

/** Takes the unique keys of messages, those that are free or whose time is over: of a key that is there twice, once. */
function takenSql(prefix: string): string {
  return `taken AS (
        ${takeSql(prefix, "message_id, ")}
        SELECT DISTINCT ON (unique_key) 'message', unique_key, id, ${noLater("saved")},
          ${noLater("saved")} + ${after("within")}
        FROM given WHERE unique_key IS NOT NULL ORDER BY unique_key, place
        ${TAKEN} message_id = excluded.message_id WHERE o.until <= excluded.since
        RETURNING message_id)`;
}

const takeSql = (prefix: string, column: string): string =>
  `INSERT INTO ${prefix}once AS o (kind, key, ${column}since, until)`;
const TAKEN =
  "ON CONFLICT (kind, key) DO UPDATE SET since = excluded.since, until = excluded.until,";

/** The values of {@link insertSql}: each a list of those of all messages, or that of one. */
export function insertParams(
  pending: readonly PendingMessage[],
  shape: InsertShape,
): readonly (Value | readonly Value[])[] {
  const columns = givenTo(shape).map(([, , value]) => pending.map(value));
  return shape.isList ? columns : columns.flat();
}

/** @param prefix - with the schema before it, if there is one */
export function statementsOf(prefix: string): Statements {
  const message = `${prefix}message`;
  return {
    ...claimStatements(message),
    ...outcomeStatements(prefix),
    ...deadLetterStatements(message),
    now: "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now",
    isolation: "SELECT current_setting('default_transaction_isolation') AS level",
    /** The role, unless it may read, change and remove all rows. Names that do not exist hide nothing. */
    restriction: `
      SELECT current_user::text AS role FROM to_regclass('${message}') AS found (id)
      WHERE row_security_active(found.id) AND (
        EXISTS (SELECT FROM pg_policy WHERE polrelid = found.id AND NOT polpermissive)
        OR EXISTS (
          SELECT FROM unnest(ARRAY['r', 'w', 'd']) AS command WHERE NOT EXISTS (
            SELECT FROM pg_policy
            WHERE polrelid = found.id AND polpermissive AND polcmd::text IN ('*', command)
              AND pg_get_expr(polqual, polrelid) = 'true'
              AND EXISTS (SELECT FROM unnest(polroles) AS r (id) WHERE r.id = 0 OR pg_has_role(r.id, 'USAGE')))))`,
    /** A claim that is under way ends first. */
    cancel: `
      WITH cancelled AS (
        DELETE FROM ${message} WHERE id = $1 AND status = 'pending' AND claim_number = 0 RETURNING id, key),
      freed AS (DELETE FROM ${prefix}once WHERE message_id = ANY (ARRAY(SELECT id FROM cancelled)))
      SELECT key FROM cancelled`,
    takeOnce: `
      ${takeSql(prefix, "")}
      SELECT 'inbox', $1::text, now, now + ${after("$3")} FROM ${noLater("$2")} AS now
      ${TAKEN} message_id = NULL WHERE o.until <= excluded.since
      RETURNING true AS taken`,
    removeOnce: `
      DELETE FROM ${prefix}once WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${prefix}once WHERE until <= (SELECT ${noLater("$1")})
        ORDER BY until LIMIT $2 FOR UPDATE SKIP LOCKED))
      RETURNING true AS removed`,
    /** The messages that have unique keys. */
    holders: `SELECT key, message_id FROM ${prefix}once WHERE kind = 'message' AND key = ANY ($1::text[])`,
    /** Without a flush to disk: the lock of all notifications of the server is held until the commit is over. */
    notify: "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)",
    find: `SELECT ${COLUMNS} FROM ${message} m WHERE id = $1`,
    backlog: ["pending", "retrying", "dead"]
      .map((status) => limitedCount(message, status))
      .join(" UNION ALL "),
    oldest: `
      SELECT (extract(epoch FROM created_at) * 1000)::float8 AS oldest FROM ${message}
      WHERE ${OPEN_SINCE} >= '-infinity' ORDER BY ${OPEN_SINCE} LIMIT 1`,
    pause: `
      INSERT INTO ${prefix}topic (topic, paused_at) VALUES ($1, ${instant("$2")})
      ON CONFLICT DO NOTHING RETURNING topic`,
    resume: `DELETE FROM ${prefix}topic WHERE topic = $1 RETURNING topic`,
    pausedTopics: `SELECT topic FROM ${prefix}topic ORDER BY topic COLLATE "C"`,
    activity: activityOf(message),
    counts: `SELECT status, count(*)::integer AS messages FROM ${message} GROUP BY status`,
    removeDelivered: `
      DELETE FROM ${message} WHERE id IN (
        SELECT id FROM ${message}
        WHERE status = 'delivered' AND updated_at < ${instant("$1")}
        ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED)
      RETURNING id`,
  };
}

/**
 * Counts up to a limit, in the order of an index, so that it costs the same however many there are. The server must not
 * know the limit: it would rather sort the few rows that it takes an unknown condition for.
 */
function limitedCount(message: string, status: string): string {
  const limited = (condition: string, by: string): string =>
    `(SELECT status FROM ${message} WHERE ${condition} ORDER BY ${by} LIMIT (SELECT ${BACKLOG_LIMIT}))`;
  const waiting = ({ atByTopic: at }: Kind): string =>
    limited(
      `${at} IS NOT NULL AND (status, topic) >= ('${status}', '')`,
      `status, topic, priority, ${at}`,
    );
  const open = [
    waiting(READY),
    waiting(ALONE),
    limited(`${PARKED_KEY} > ''`, PARKED_KEY),
    limited("claimed_by IS NOT NULL", "claimed_until"),
  ];
  const rows = status === "dead" ? [limited("status = 'dead'", "updated_at, id")] : open;
  return `
    SELECT '${status}' AS status, least(count(*), ${BACKLOG_LIMIT})::integer AS messages
    FROM (${rows.join(" UNION ALL ")}) limited WHERE status = '${status}'`;
}

function claimStatements(message: string): Record<"expired" | "releaseUnread", string> {
  return {
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
        status = 'pending', failed_attempts = 0, expired_claims = 0, parked = false, expires_at = NULL,
        due_at = least(${instant("$3")}, clock_timestamp()), updated_at = ${instant("$3")}
      WHERE ${SELECTED}
      RETURNING id`,
    discard: `DELETE FROM ${message} WHERE ${SELECTED} RETURNING id`,
  };
}
