import { requireFinite, requireWhole } from "@holdfast/clock/internal";
import type { MessageOrder } from "../store/outbox-store.ts";

// Every text is bound. Only constants of this file, the checked prefix and checked numbers are concatenated.
// Each locking read names its index: with another one it would lock rows that it only reads.

const COLUMNS = [
  "m.id, m.create_time, m.edit_time, m.creator, m.editor, m.deleted, m.message_status, m.last_error",
  "m.current_retry_times, m.lost_attempts, m.max_retry_times, m.init_backoff, m.backoff_factor",
  "m.queue_name, m.exchange_name, m.exchange_type, m.routing_key, m.next_schedule_time",
  "m.business_module, m.business_key, m.claimed_by, m.claimed_until, m.claim_number, c.content",
].join(", ");

/** The SQL of a `MySqlStore`. */
export interface Statements {
  readonly insertMessage: string;
  readonly insertContent: string;
  readonly find: string;
  readonly backlog: string;
  readonly counts: string;
  readonly nextDue: string;
  readonly bury: string;
  readonly insertFence: string;
  readonly lockFence: string;
  readonly setFence: string;
  readonly lockClaim: string;
  readonly markFail: string;
  readonly releaseOrphan: string;
  readonly release: string;
  /** The sequence numbers of messages, locked; those that others have locked are left out. */
  lockDue(now: number, limit: number): string;
  lockConfirmed(before: number, limit: number): string;
  /** Those of a list of so many ids. */
  lockSaved(count: number): string;
  lockClaims(count: number): string;
  /** Of all messages, or of a list of so many ids. */
  lockDead(ids: number | undefined): string;
  orphans(now: number, limit: number): string;
  /** For a list of so many sequence numbers. */
  claim(count: number): string;
  claimed(count: number): string;
  markSuccess(count: number): string;
  followers(count: number): string;
  advance(count: number): string;
  replay(count: number): string;
  remove(count: number): string;
}

/** Placeholders for so many values. */
const listOf = (count: number): string => `(${"?, ".repeat(count - 1)}?)`;

/** A number in the text itself: not every server takes a parameter for a `LIMIT`. */
const limitOf = (limit: number): string => requireWhole("limit", limit, 0).toFixed();

/** Instants are whole. One that was not would compare as the next one below it. */
const instantOf = (name: string, instant: number): string =>
  Math.floor(requireFinite(name, instant)).toFixed();

export function statementsOf(prefix: string, order: MessageOrder): Statements {
  const message = `${prefix}message`;
  const joined = `${message} m LEFT JOIN ${prefix}content c ON c.message_id = m.id`;
  return {
    ...saveStatements(prefix),
    ...claimStatements(message, joined, order),
    ...outcomeStatements(message),
    ...upkeepStatements(message, joined),
    ...fenceStatements(`${prefix}fence`),
    find: `SELECT ${COLUMNS} FROM ${joined} WHERE m.id = ?`,
    backlog: `
      SELECT message_status, COUNT(*) AS messages FROM ${message} FORCE INDEX (message_status)
      WHERE message_status IN ('pending', 'failed', 'dead') AND deleted = 0
      GROUP BY message_status`,
    counts: `
      SELECT message_status, COUNT(*) AS messages FROM ${message} WHERE deleted = 0
      GROUP BY message_status`,
  };
}

/** Each uses each parameter once, and in order: they are taken apart for the tag of a query layer. */
function saveStatements(prefix: string): Pick<Statements, "insertMessage" | "insertContent"> {
  return {
    insertMessage: `
      INSERT INTO ${prefix}message (
        id, create_time, edit_time, creator, editor, message_status, max_retry_times,
        next_schedule_time, init_backoff, backoff_factor, queue_name, exchange_name, exchange_type,
        routing_key, business_module, business_key
      ) VALUES (?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    insertContent: `INSERT INTO ${prefix}content (message_id, content) VALUES (?, ?)`,
  };
}

type ClaimStatement = "lockDue" | "lockSaved" | "claim" | "claimed" | "nextDue";

function claimStatements(
  message: string,
  joined: string,
  order: MessageOrder,
): Pick<Statements, ClaimStatement> {
  /** The limit keeps the server from looking for the first message of every key at once. */
  const isFirst = `m.sequence = (
    SELECT b.sequence FROM ${message} b FORCE INDEX (message_business)
    WHERE b.business_module = m.business_module AND b.business_key = m.business_key AND b.is_open = 1
    ORDER BY b.sequence LIMIT 1)`;
  const inOrder = order === "businessKey" ? `AND ${isFirst}` : "";
  return {
    lockDue: (now, limit) => `
      SELECT m.sequence FROM ${message} m FORCE INDEX (message_due)
      WHERE m.due_at <= ${instantOf("now", now)} ${inOrder}
      ORDER BY m.due_at LIMIT ${limitOf(limit)} FOR UPDATE SKIP LOCKED`,
    lockSaved: (count) => `
      SELECT m.sequence FROM ${message} m FORCE INDEX (message_id)
      WHERE m.id IN ${listOf(count)} AND m.claim_number = 0 AND m.due_at IS NOT NULL ${inOrder}
      FOR UPDATE SKIP LOCKED`,
    claim: (count) => `
      UPDATE ${message} SET claimed_by = ?, claimed_until = ?, claim_number = claim_number + 1
      WHERE sequence IN ${listOf(count)}`,
    claimed: (count) => `
      SELECT ${COLUMNS} FROM ${joined} WHERE m.sequence IN ${listOf(count)}
      ORDER BY m.next_schedule_time, m.sequence`,
    nextDue: `
      SELECT m.due_at FROM ${message} m FORCE INDEX (message_due)
      WHERE m.due_at IS NOT NULL ${inOrder} ORDER BY m.due_at LIMIT 1`,
  };
}

type OutcomeStatement = "lockClaim" | "lockClaims" | "markSuccess" | "markFail" | "release";

function outcomeStatements(
  message: string,
): Pick<Statements, OutcomeStatement | "releaseOrphan" | "bury" | "followers" | "advance"> {
  const failed = (status: string, counted: string): string => `
    UPDATE ${message} SET
      message_status = ${status}, next_schedule_time = ?, last_error = ?, editor = ?, edit_time = ?,
      ${counted}, claimed_by = NULL, claimed_until = NULL
    WHERE id = ?`;
  const locked = `SELECT sequence, id, claim_number, claimed_by FROM ${message} FORCE INDEX (message_id)`;
  return {
    lockClaim: `${locked} WHERE id = ? FOR UPDATE`,
    lockClaims: (count) => `${locked} WHERE id IN ${listOf(count)} ORDER BY id FOR UPDATE`,
    markSuccess: (count) => `
      UPDATE ${message} SET
        message_status = 'success', next_schedule_time = NULL, claimed_by = NULL,
        claimed_until = NULL, editor = ?, edit_time = ?
      WHERE sequence IN ${listOf(count)}`,
    markFail: failed(
      "COALESCE(?, 'failed')",
      "current_retry_times = LEAST(current_retry_times + 1, max_retry_times)",
    ),
    releaseOrphan: failed("COALESCE(?, message_status)", "lost_attempts = lost_attempts + 1"),
    release: `UPDATE ${message} SET claimed_by = NULL, claimed_until = NULL WHERE id = ?`,
    /** For a row that is not a message. */
    bury: `
      UPDATE ${message} SET
        message_status = 'dead', next_schedule_time = NULL, claimed_by = NULL, claimed_until = NULL,
        edit_time = ?, last_error = ?
      WHERE id = ? AND claim_number = ?`,
    /** The next message of each key. */
    followers: (count) => `
      SELECT (
        SELECT n.sequence FROM ${message} n FORCE INDEX (message_business)
        WHERE n.business_module = m.business_module AND n.business_key = m.business_key
          AND n.is_open = 1 AND n.sequence > m.sequence
        ORDER BY n.sequence LIMIT 1) AS sequence
      FROM ${message} m WHERE m.sequence IN ${listOf(count)}`,
    advance: (count) => `
      UPDATE ${message} SET next_schedule_time = ?
      WHERE sequence IN ${listOf(count)} AND claim_number = 0 AND is_open = 1`,
  };
}

type UpkeepStatement = "orphans" | "lockDead" | "replay" | "lockConfirmed" | "remove";

function upkeepStatements(message: string, joined: string): Pick<Statements, UpkeepStatement> {
  const orphans = joined.replace(" m ", " m FORCE INDEX (message_claimed) ");
  return {
    orphans: (now, limit) => `
      SELECT ${COLUMNS} FROM ${orphans} WHERE m.claimed_until <= ${instantOf("now", now)}
      ORDER BY m.claimed_until LIMIT ${limitOf(limit)}`,
    lockDead: (ids) => {
      const [index, among] =
        ids === undefined ? ["message_status", ""] : ["message_id", `AND id IN ${listOf(ids)}`];
      return `
        SELECT sequence FROM ${message} FORCE INDEX (${index})
        WHERE message_status = 'dead' AND deleted = 0 ${among} FOR UPDATE`;
    },
    replay: (count) => `
      UPDATE ${message} SET
        message_status = 'pending', current_retry_times = 0, lost_attempts = 0,
        next_schedule_time = ?, editor = ?, edit_time = ?
      WHERE sequence IN ${listOf(count)}`,
    lockConfirmed: (before, limit) => `
      SELECT sequence FROM ${message} FORCE INDEX (message_status)
      WHERE message_status = 'success' AND edit_time < ${instantOf("before", Math.ceil(before))}
      ORDER BY edit_time LIMIT ${limitOf(limit)} FOR UPDATE SKIP LOCKED`,
    /** The content goes with its message. */
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
