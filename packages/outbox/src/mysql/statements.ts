import { requireFinite, requireWhole } from "@holdfast/clock/internal";
import type { MessageOrder } from "../store/outbox-store.ts";

// Every text is bound. Only constants of this file, the checked prefix and checked numbers are concatenated.
// Each locking read names its index: with another one it would lock rows that it only reads.

const COLUMNS = [
  "m.id, m.topic, m.`key`, m.headers, m.payload, m.status, m.last_error",
  "m.created_at, m.updated_at, m.due_at, m.failed_attempts, m.expired_claims, m.max_attempts",
  "m.initial_delay, m.factor, m.claimed_by, m.claimed_until, m.claim_number",
].join(", ");

/** The dead letters to change: a list of so many ids, those of a topic, or all. */
type DeadLetterScope = { readonly ids: number } | "topic" | "all";

/** A filter of claims: the numbers of its topics, which are values. */
export interface FilterShape {
  readonly topics?: number | undefined;
  readonly exceptTopics?: number | undefined;
  readonly hasExpired?: boolean | undefined;
}

/** The SQL of a `MySqlStore`. */
export interface Statements {
  readonly insert: string;
  readonly now: string;
  readonly find: string;
  readonly backlog: string;
  readonly counts: string;
  readonly fail: string;
  readonly recover: string;
  readonly deadLetter: string;
  readonly insertFence: string;
  readonly lockFence: string;
  readonly setFence: string;
  /** The sequence numbers of messages, locked; those that others have locked are left out. */
  lockDue(now: number, limit: number, filter: FilterShape): string;
  nextDue(filter: FilterShape): string;
  lockDelivered(before: number, limit: number): string;
  lockDead(scope: DeadLetterScope): string;
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
    now: `SELECT ${NOW} AS now`,
    /**
     * Uses each parameter once, and in order: it is taken apart for the tag of a query layer. A message of a process
     * whose clock is ahead is due now by the clock of the server, or relays would wait.
     */
    insert: `
      INSERT INTO ${message} (
        id, topic, \`key\`, headers, payload, max_attempts, initial_delay, factor, created_at, updated_at, due_at
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, LEAST(?, ${NOW}))`,
    find: `SELECT ${COLUMNS} FROM ${message} m WHERE m.id = ?`,
    backlog: `
      SELECT status, COUNT(*) AS messages FROM ${message} FORCE INDEX (message_status)
      WHERE status IN ('pending', 'retrying', 'dead') GROUP BY status`,
    counts: `SELECT status, COUNT(*) AS messages FROM ${message} GROUP BY status`,
  };
}

type ClaimStatement = "lockDue" | "claim" | "claimed" | "nextDue" | "expired";

function claimStatements(message: string, order: MessageOrder): Pick<Statements, ClaimStatement> {
  /** The limit keeps the server from looking for the first message of every key at once. */
  const isFirst = `m.sequence = (
    SELECT b.sequence FROM ${message} b FORCE INDEX (message_key)
    WHERE b.\`key\` = m.\`key\` AND b.is_open = 1
    ORDER BY b.sequence LIMIT 1)`;
  const inOrder = order === "key" ? `AND ${isFirst}` : "";
  return {
    lockDue: (now, limit, filter) => `
      SELECT m.sequence, LENGTH(m.payload) AS bytes FROM ${message} m FORCE INDEX (message_due)
      WHERE m.claimable_at <= ${instantOf("now", now)} ${selected(filter)} ${inOrder}
      ORDER BY m.claimable_at LIMIT ${limitOf(limit)} FOR UPDATE SKIP LOCKED`,
    claim: (count) => `
      UPDATE ${message} SET claimed_by = ?, claimed_until = ?, claim_number = claim_number + 1
      WHERE sequence IN ${listOf(count)}`,
    claimed: (count) => `
      SELECT ${COLUMNS} FROM ${message} m WHERE m.sequence IN ${listOf(count)}
      ORDER BY m.due_at, m.sequence`,
    nextDue: (filter) => `
      SELECT m.claimable_at FROM ${message} m FORCE INDEX (message_due)
      WHERE m.claimable_at IS NOT NULL ${selected(filter)} ${inOrder}
      ORDER BY m.claimable_at LIMIT 1`,
    expired: (now, limit) => `
      SELECT ${COLUMNS} FROM ${message} m FORCE INDEX (message_claimed)
      WHERE m.claimed_until <= ${instantOf("now", now)}
      ORDER BY m.claimed_until LIMIT ${limitOf(limit)}`,
  };
}

/** The values of the topics come first. A list without topics selects none. */
function selected({ topics, exceptTopics = 0, hasExpired }: FilterShape): string {
  const conditions: string[] = [];
  if (topics !== undefined) conditions.push(topics > 0 ? `m.topic IN ${listOf(topics)}` : "FALSE");
  if (exceptTopics > 0) conditions.push(`m.topic NOT IN ${listOf(exceptTopics)}`);
  if (hasExpired !== undefined) conditions.push(`m.expired_claims ${hasExpired ? ">" : "="} 0`);
  return conditions.map((condition) => `AND ${condition}`).join(" ");
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

type UpkeepStatement = "lockDead" | "deadLetters" | "replay" | "lockDelivered" | "remove";

function upkeepStatements(message: string): Pick<Statements, UpkeepStatement> {
  const scoped = (scope: DeadLetterScope): readonly [string, string] => {
    if (scope === "all") return ["message_status", ""];
    if (scope === "topic") return ["message_status", "AND topic = ?"];
    return ["message_id", `AND id IN ${listOf(scope.ids)}`];
  };
  return {
    lockDead: (scope) => {
      const [index, among] = scoped(scope);
      return `
        SELECT sequence FROM ${message} FORCE INDEX (${index})
        WHERE status = 'dead' ${among} FOR UPDATE`;
    },
    deadLetters: ({ topic, after, limit }) => `
      SELECT ${COLUMNS} FROM ${message} m FORCE INDEX (message_status)
      WHERE m.status = 'dead' ${topic ? "AND m.topic = ?" : ""}
        ${after ? "AND (m.updated_at > ? OR (m.updated_at = ? AND m.id > ?))" : ""}
      ORDER BY m.updated_at, m.id LIMIT ${limitOf(limit)}`,
    replay: (count) => `
      UPDATE ${message} SET
        status = 'pending', failed_attempts = 0, expired_claims = 0, due_at = LEAST(?, ${NOW}),
        updated_at = ?
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
