import { requireFinite, requireWhole } from "@holdfast/kit";
import type { PendingMessage } from "../message/pending-message.ts";
import { ACTIVITY_LIMIT, SLOT } from "../store/activity.ts";
import { BACKLOG_LIMIT, type ClaimFilter, type MessageOrder } from "../store/outbox-store.ts";

// A statement with parameters is prepared, and stays on the server: its text is constant, but for the lengths of lists.
// A statement without them holds its values: numbers that were checked, and texts as hexadecimal digits. Looks for due
// messages are of this kind: MySQL plans some of them badly for a parameter, and MariaDB after an ANALYZE TABLE.
//
// No statement locks rows that it only reads: those to lock are found first, then locked by their primary key.

const COLUMNS = [
  "m.id, m.topic, m.`key`, m.headers, m.payload, m.priority, m.status, m.last_error",
  "m.created_at, m.updated_at, m.due_at, m.failed_attempts, m.expired_claims, m.max_attempts",
  "m.initial_delay, m.factor, m.max_delay, m.expires_at, m.claimed_by, m.claimed_until, m.claim_number",
].join(", ");

/** The dead letters to change: a list of so many ids, those of a topic, or all. */
type DeadLetterScope = { readonly ids: number } | "topic" | "all";

/**
 * A part of an index, in the order of its instants.
 *
 * | Lane | Unclaimed messages |
 * | --- | --- |
 * | a priority | those of it without an expired claim |
 * | a priority and a topic | those of both |
 * | `retrying` | those that were attempted |
 * | `expired` | all with an expired claim |
 */
export type Lane =
  | "retrying"
  | "expired"
  | { readonly priority: number; readonly topic?: string | undefined };

/** A look at the messages that are due until an instant. */
export interface Look extends Pick<ClaimFilter, "topics" | "exceptTopics"> {
  readonly until: number;
  /** The maximum number of messages. */
  readonly limit: number;
  /** Which are the first: those that are due are so by their priority, too. */
  readonly by: "priority, due_at" | "due_at";
}

/** The SQL of a `MySqlStore`. */
export interface Statements {
  readonly insert: string;
  /** Like `insert`, for a message that may be there. */
  readonly insertOrLeave: string;
  /** Like `insertOrLeave`, if the message has its unique key. */
  readonly insertIfTaken: string;
  readonly takeOnce: string;
  readonly holderOf: string;
  readonly lockNew: string;
  readonly removeKeysOf: string;
  lockOnce(now: number, limit: number): string;
  readonly removeOnce: string;
  /**
   * Many messages, without parameters: a prepared statement for each number of them would stay on the server.
   *
   * @param now - the time of the server
   */
  insertAll(messages: readonly PendingMessage[], now: number): string;
  readonly now: string;
  readonly find: string;
  readonly backlog: string;
  readonly counts: string;
  /** Messages by status, topic and slot, since which slots are told apart. */
  activity(since: number): string;
  readonly fail: string;
  readonly recover: string;
  readonly deadLetter: string;
  readonly insertFence: string;
  readonly lockFence: string;
  readonly setFence: string;
  readonly topics: string;
  readonly oldest: string;
  /** Topics in hexadecimal digits, as `topic_digits`. */
  readonly pausedTopics: string;
  lockPaused(topic: string): string;
  pause(topic: string, now: number): string;
  resume(topic: string): string;
  /**
   * The first messages of some lanes together: `sequence`, `priority`, `due_at`, and in order `is_first`, 1 for the first message of
   * its key.
   */
  due(lanes: readonly Lane[], look: Look): string;
  /**
   * The first messages of the keys that follow one, given and returned in hexadecimal digits as `key_digits`.
   * `is_first` is 1 if the look selects it.
   */
  firstOfKeys(after: string, look: Look): string;
  /** Locks messages of a list, at most so many; those that others have locked or claimed are left out. */
  lockDue(sequences: readonly unknown[], look: Pick<Look, "until" | "limit">): string;
  lockDelivered(before: number, limit: number): string;
  findDead(scope: DeadLetterScope): string;
  lockDead(count: number): string;
  /** Those of a list of so many ids. */
  lockClaims(count: number): string;
  expired(now: number, limit: number): string;
  deadLetters(page: { topic: boolean; after: boolean; limit: number }): string;
  /** For a list of so many sequence numbers. */
  claim(count: number): string;
  claimed(count: number): string;
  deliver(count: number): string;
  release(count: number): string;
  replay(count: number): string;
  remove(count: number): string;
}

/** Bytes: a comparison of texts ignores spaces at their end. */
const OF_TOPIC = "AND CAST(topic AS BINARY) = CAST(? AS BINARY)";

/** Placeholders for so many values. */
const listOf = (count: number): string => `(${"?, ".repeat(count - 1)}?)`;

/** A number in the text itself: not every server takes a parameter for a `LIMIT`. */
const limitOf = (limit: number): string => requireWhole("limit", limit, 0).toFixed();

/** The clock of the server, in no time zone, so that it does not go back by an hour in autumn. */
const NOW = "FLOOR(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) / 1000)";

/** Instants are whole. One that was not would compare as the next one below it. */
const instantOf = (name: string, instant: number): string =>
  Math.floor(requireFinite(name, instant)).toFixed();

export function statementsOf(prefix: string, order: MessageOrder): Statements {
  const message = `${prefix}message`;
  return {
    ...claimStatements(message, order),
    ...outcomeStatements(message),
    ...upkeepStatements(message),
    ...fenceStatements(`${prefix}fence`),
    ...onceStatements(`${prefix}once`),
    ...insertStatements(message, `${prefix}once`),
    now: `SELECT ${NOW} AS now`,
    lockNew: `
      SELECT sequence FROM ${message} FORCE INDEX (message_id)
      WHERE id = ? AND status = 'pending' AND claim_number = 0 FOR UPDATE`,
    find: `SELECT ${COLUMNS} FROM ${message} m WHERE m.id = ?`,
    backlog: ["pending", "retrying", "dead"]
      .map(
        (status) => `
      SELECT '${status}' AS status, COUNT(*) AS messages FROM (
        SELECT 1 FROM ${message} FORCE INDEX (message_status)
        WHERE status = '${status}' LIMIT ${BACKLOG_LIMIT}) AS counted`,
      )
      .join(" UNION ALL "),
    oldest: `
      SELECT created_at AS oldest FROM ${message} FORCE INDEX (message_open_since)
      WHERE is_open = 1 ORDER BY is_open, created_at LIMIT 1`,
    pausedTopics: `SELECT HEX(topic) AS topic_digits FROM ${prefix}topic ORDER BY topic`,
    lockPaused: (topic) =>
      `SELECT 1 FROM ${prefix}topic WHERE topic = X'${digitsOf(topic)}' FOR UPDATE`,
    pause: (topic, now) => `
      INSERT INTO ${prefix}topic (topic, paused_at) VALUES (X'${digitsOf(topic)}', ${instantOf("now", now)})
      ON DUPLICATE KEY UPDATE topic = topic`,
    resume: (topic) => `DELETE FROM ${prefix}topic WHERE topic = X'${digitsOf(topic)}'`,
    activity: (since) => activityOf(message, instantOf("since", since)),
    counts: `SELECT status, COUNT(*) AS messages FROM ${message} GROUP BY status`,
  };
}

type InsertStatement = "insert" | "insertOrLeave" | "insertIfTaken" | "insertAll";

/** Each uses its parameters once, and in order: it is taken apart for the tag of a query layer. */
function insertStatements(message: string, once: string): Pick<Statements, InsertStatement> {
  const into = `
      INSERT INTO ${message} (
        id, topic, \`key\`, headers, payload, priority, max_attempts, initial_delay, factor, max_delay, expires_at,
        created_at, updated_at, due_at)`;
  /** A message of a process whose clock is ahead is due now by the clock of the server, or relays would wait. */
  const values = `${"?, ".repeat(10)}NULLIF(?, 0), ?, ?, GREATEST(?, LEAST(?, ${NOW}) + ?)`;
  const leave = `ON DUPLICATE KEY UPDATE id = ${message}.id`;
  const rowOf = (pending: PendingMessage, now: number): string => {
    const { message, delay, notBefore } = pending;
    const { createdAt, expiresAt = "NULL" } = message;
    const dueAt = Math.max(notBefore, Math.min(createdAt, now) + delay);
    const literals = insertParams(pending).slice(0, 10).map(literalOf);
    return `(${[...literals, expiresAt, createdAt, createdAt, dueAt].join(", ")})`;
  };
  return {
    insert: `${into} VALUES (${values})`,
    insertOrLeave: `${into} VALUES (${values}) ${leave}`,
    insertIfTaken: `${into} SELECT ${values} FROM ${once} o
      WHERE o.kind = 'message' AND o.\`key\` = ? AND o.message_id = ? ${leave}`,
    insertAll: (messages, now) =>
      `${into} VALUES ${messages.map((each) => rowOf(each, now)).join(", ")}`,
  };
}

/** The values of an insert. */
export function insertParams(pending: PendingMessage): readonly (string | number)[] {
  const { message, headers, payload, delay, notBefore } = pending;
  const { id, topic, key, priority, maxAttempts, backoff, expiresAt = 0, createdAt } = message;
  const { duration, factor, cap } = backoff;
  return [
    ...[id, topic, key, headers, payload, priority, maxAttempts],
    ...[duration, factor, cap, expiresAt, createdAt, createdAt, notBefore, createdAt, delay],
  ];
}

/** A value in the text itself: a number that was checked, or the bytes of a text. */
function literalOf(value: string | number): string {
  return typeof value === "number" ? String(value) : `_utf8mb4 X'${digitsOf(value)}'`;
}

type OnceStatement = "takeOnce" | "holderOf" | "removeKeysOf" | "lockOnce" | "removeOnce";

function onceStatements(once: string): Pick<Statements, OnceStatement> {
  const ifOver = (column: string): string =>
    `${column} = IF(until <= VALUES(since), VALUES(${column}), ${column})`;
  return {
    /** The last column decides until it is changed itself. Another transaction that has the key ends first. */
    takeOnce: `
      INSERT INTO ${once} (kind, \`key\`, message_id, since, until)
      VALUES (?, ?, ?, LEAST(?, ${NOW}), LEAST(?, ${NOW}) + ?)
      ON DUPLICATE KEY UPDATE ${["message_id", "since", "until"].map(ifOver).join(", ")}`,
    holderOf: `SELECT message_id FROM ${once} WHERE kind = ? AND \`key\` = ? FOR UPDATE`,
    removeKeysOf: `DELETE FROM ${once} WHERE message_id = ?`,
    lockOnce: (now, limit) => `
      SELECT kind, \`key\` FROM ${once} FORCE INDEX (once_until)
      WHERE until <= LEAST(${instantOf("now", now)}, ${NOW})
      ORDER BY until LIMIT ${limitOf(limit)} FOR UPDATE SKIP LOCKED`,
    removeOnce: `DELETE FROM ${once} WHERE kind = ? AND \`key\` = ?`,
  };
}

/** The newest of each status, but of those that are pending the oldest. */
function activityOf(message: string, since: string): string {
  const slot = `CASE WHEN updated_at >= ${since} THEN FLOOR(updated_at / ${SLOT}) * ${SLOT} END`;
  const parts = ["delivered", "dead", "retrying", "pending"].map((status) => {
    const among = status === "delivered" ? `AND updated_at >= ${since}` : "";
    return `(
      SELECT status, HEX(topic) AS topic_digits, ${slot} AS slot, created_at FROM ${message} FORCE INDEX (message_status)
      WHERE status = '${status}' ${among}
      ORDER BY updated_at ${status === "pending" ? "ASC" : "DESC"} LIMIT ${ACTIVITY_LIMIT})`;
  });
  return `
    SELECT status, topic_digits, slot, COUNT(*) AS messages, MIN(created_at) AS oldest
    FROM (${parts.join(" UNION ALL ")}) AS found GROUP BY status, topic_digits, slot`;
}

type ClaimStatement =
  | "topics"
  | "due"
  | "firstOfKeys"
  | "lockDue"
  | "claim"
  | "claimed"
  | "expired";

function claimStatements(message: string, order: MessageOrder): Pick<Statements, ClaimStatement> {
  /** In the order of the index to the letter, or MySQL sorts all messages of the key. */
  const firstOf = (key: string): string => `(
    SELECT b.sequence FROM ${message} b FORCE INDEX (message_key)
    WHERE b.\`key\` = ${key} AND b.is_open = 1
    ORDER BY b.\`key\`, b.is_open, b.sequence LIMIT 1)`;
  const [key, isFirst] =
    order === "key" ? [", `key`", `, m.sequence = ${firstOf("m.`key`")} AS is_first`] : ["", ""];
  /** A look finds more than are needed, so not all of one lane. In order, a full look says that there may be more. */
  const limitIn = (lanes: readonly Lane[], { limit }: Look): number => {
    const topics = new Set(lanes.map((lane) => (typeof lane === "object" ? lane.topic : lane)));
    return order === "key" ? limit : Math.ceil(limit / Math.min(topics.size, 4));
  };
  const laneOf = (lane: Lane, look: Look): string => {
    const { index, at, where } = partOf(lane, look);
    return `(
      SELECT sequence, priority, ${at} AS due_at ${key} FROM ${message} FORCE INDEX (${index})
      WHERE ${where} AND ${at} <= ${instantOf("now", look.until)}
      ORDER BY ${at} LIMIT ${limitOf(look.limit)})`;
  };
  return {
    topics: `
      SELECT HEX(claimable_topic) AS topic_digits, priority, MIN(claimable_at) AS due_at
      FROM ${message} FORCE INDEX (message_topic)
      WHERE claimable_topic IS NOT NULL GROUP BY claimable_topic, priority`,
    due: (lanes, look) => {
      const each = { ...look, limit: limitIn(lanes, look) };
      return `
      SELECT m.sequence, m.priority, m.due_at ${isFirst} FROM (
        SELECT * FROM (${lanes.map((lane) => laneOf(lane, each)).join(" UNION ALL ")}) AS lanes
        ORDER BY ${look.by}, sequence LIMIT ${limitOf(look.limit)}) AS m
      ORDER BY ${look.by}, sequence`;
    },
    firstOfKeys: (after, look) => `
      SELECT HEX(k.fresh_key) AS key_digits, m.sequence, m.priority, m.due_at,
        COALESCE(m.claimable_at <= ${instantOf("now", look.until)} ${selected(look)}, 0) AS is_first
      FROM (
        SELECT fresh_key, MIN(claimable_at) AS due_at FROM ${message} FORCE INDEX (message_fresh)
        WHERE fresh_key > X'${after}' GROUP BY fresh_key LIMIT ${limitOf(look.limit)}) AS k
      LEFT JOIN ${message} m ON m.sequence = ${firstOf("CONVERT(k.fresh_key USING utf8mb4) COLLATE utf8mb4_bin")}`,
    lockDue: (sequences, { until, limit }) => `
      SELECT sequence, LENGTH(payload) AS bytes FROM ${message} FORCE INDEX (PRIMARY)
      WHERE sequence IN (${sequences.map((each) => BigInt(String(each))).join(", ")})
        AND claimed_by IS NULL AND due_at <= ${instantOf("now", until)}
      LIMIT ${limitOf(limit)} FOR UPDATE SKIP LOCKED`,
    claim: (count) => `
      UPDATE ${message} SET claimed_by = ?, claimed_until = ?, claim_number = claim_number + 1
      WHERE sequence IN ${listOf(count)}`,
    claimed: (count) => `
      SELECT ${COLUMNS} FROM ${message} m WHERE m.sequence IN ${listOf(count)}
      ORDER BY m.priority, m.due_at, m.sequence`,
    expired: (now, limit) => `
      SELECT ${COLUMNS} FROM ${message} m FORCE INDEX (message_claimed)
      WHERE m.claimed_until <= ${instantOf("now", now)}
      ORDER BY m.claimed_until LIMIT ${limitOf(limit)}`,
  };
}

/** The index of a lane, the column of its order, and what selects it. */
function partOf(lane: Lane, look: Look): { index: string; at: string; where: string } {
  if (typeof lane === "object") {
    const { priority, topic } = lane;
    const [index, of] =
      topic === undefined
        ? ["message_due", ""]
        : ["message_topic", `claimable_topic = X'${digitsOf(topic)}' AND `];
    return {
      index,
      at: "claimable_at",
      where: `${of}priority = ${requireWhole("priority", priority, -128)}`,
    };
  }
  const where = `has_expired = ${lane === "expired" ? 1 : 0} ${selected(look)}`;
  return { index: "message_again", at: "again_at", where };
}

/** Compares bytes: a comparison of texts ignores spaces at their end. */
function selected({ topics, exceptTopics = [] }: Look): string {
  const among = (list: readonly string[]): string =>
    `(${list.map((topic) => `X'${digitsOf(topic)}'`).join(", ")})`;
  const conditions: string[] = [];
  if (topics !== undefined)
    conditions.push(topics.length > 0 ? `CAST(topic AS BINARY) IN ${among(topics)}` : "FALSE");
  if (exceptTopics.length > 0)
    conditions.push(`CAST(topic AS BINARY) NOT IN ${among(exceptTopics)}`);
  return conditions.map((condition) => `AND ${condition}`).join(" ");
}

/** The bytes of a text in hexadecimal digits, which no `sql_mode` changes. */
function digitsOf(text: string): string {
  return Buffer.from(text).toString("hex");
}

/** The text of {@link digitsOf}. */
export function textOf(digits: string): string {
  const bytes = (digits.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

type OutcomeStatement = "lockClaims" | "deliver" | "release" | "fail" | "recover" | "deadLetter";

function outcomeStatements(message: string): Pick<Statements, OutcomeStatement> {
  const failed = (status: string, counted: string): string => `
    UPDATE ${message} SET
      status = ${status}, due_at = ?, last_error = ?, updated_at = ?, ${counted},
      claimed_by = NULL, claimed_until = NULL
    WHERE id = ?`;
  return {
    lockClaims: (count) => `
      SELECT sequence, id, claim_number, claimed_by FROM ${message} FORCE INDEX (message_id)
      WHERE id IN ${listOf(count)} ORDER BY id FOR UPDATE`,
    deliver: (count) => `
      UPDATE ${message} SET
        status = 'delivered', due_at = NULL, claimed_by = NULL, claimed_until = NULL, updated_at = ?
      WHERE sequence IN ${listOf(count)}`,
    release: (count) => `
      UPDATE ${message} SET claimed_by = NULL, claimed_until = NULL WHERE sequence IN ${listOf(count)}`,
    fail: failed(
      "COALESCE(?, 'retrying')",
      "failed_attempts = LEAST(failed_attempts + 1, max_attempts)",
    ),
    recover: failed("COALESCE(?, status)", "expired_claims = expired_claims + 1"),
    /** For a row that is not a message. */
    deadLetter: `
      UPDATE ${message} SET
        status = 'dead', due_at = NULL, claimed_by = NULL, claimed_until = NULL, updated_at = ?,
        last_error = ?
      WHERE id = ? AND claim_number = ?`,
  };
}

type UpkeepStatement =
  | "findDead"
  | "lockDead"
  | "deadLetters"
  | "replay"
  | "lockDelivered"
  | "remove";

function upkeepStatements(message: string): Pick<Statements, UpkeepStatement> {
  const scoped = (scope: DeadLetterScope): readonly [string, string] => {
    if (scope === "all") return ["message_status", ""];
    if (scope === "topic") return ["message_status", OF_TOPIC];
    return ["message_id", `AND id IN ${listOf(scope.ids)}`];
  };
  return {
    findDead: (scope) => {
      const [index, among] = scoped(scope);
      return `
        SELECT sequence FROM ${message} FORCE INDEX (${index})
        WHERE status = 'dead' ${among} ORDER BY sequence`;
    },
    lockDead: (count) => `
      SELECT sequence FROM ${message} FORCE INDEX (PRIMARY)
      WHERE sequence IN ${listOf(count)} AND status = 'dead' FOR UPDATE`,
    deadLetters: ({ topic, after, limit }) => `
      SELECT ${COLUMNS} FROM ${message} m FORCE INDEX (message_status)
      WHERE m.status = 'dead' ${topic ? OF_TOPIC : ""}
        ${after ? "AND (m.updated_at > ? OR (m.updated_at = ? AND m.id > ?))" : ""}
      ORDER BY m.updated_at, m.id LIMIT ${limitOf(limit)}`,
    replay: (count) => `
      UPDATE ${message} SET
        status = 'pending', failed_attempts = 0, expired_claims = 0, expires_at = NULL,
        due_at = LEAST(?, ${NOW}), updated_at = ?
      WHERE sequence IN ${listOf(count)}`,
    lockDelivered: (before, limit) => `
      SELECT sequence FROM ${message} FORCE INDEX (message_status)
      WHERE status = 'delivered' AND updated_at < ${instantOf("before", Math.ceil(before))}
      ORDER BY updated_at LIMIT ${limitOf(limit)} FOR UPDATE SKIP LOCKED`,
    remove: (count) => `DELETE FROM ${message} WHERE sequence IN ${listOf(count)}`,
  };
}

function fenceStatements(
  fence: string,
): Pick<Statements, "insertFence" | "lockFence" | "setFence"> {
  return {
    /** The holder of an older token waits here for the end of a newer one's write. */
    insertFence: `
      INSERT INTO ${fence} (name, token) VALUES (?, ?) ON DUPLICATE KEY UPDATE name = name`,
    lockFence: `SELECT token FROM ${fence} WHERE name = ? FOR UPDATE`,
    setFence: `UPDATE ${fence} SET token = ? WHERE name = ?`,
  };
}
