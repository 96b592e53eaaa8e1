import { requireArray } from "@holdfast/clock/internal";
import type { Message, MessageStatus, NewMessage } from "../message/message.ts";
import { requireStoredName, requireUuid } from "../message/stored-text.ts";
import type { Claim, Claimed } from "./claim.ts";
import type { Statement } from "./database.ts";

/**
 * The order of messages of one business key.
 *
 * | Order | Promise |
 * | --- | --- |
 * | `none` | none: a message that fails is overtaken |
 * | `businessKey` | of messages with the same module and key one is sent at a time, in the order in which they were saved; the next one when the one before is `success` or `dead` |
 */
export type MessageOrder = "none" | "businessKey";

/** Returns the ids of a replay as they are stored; undefined for all dead messages. */
export function requireReplay({ ids, editor }: ReplayRequest): readonly string[] | undefined {
  requireStoredName("request.editor", editor);
  if (ids === undefined) return undefined;
  requireArray("request.ids", ids);
  return ids.map((id, i) => requireUuid(`request.ids[${i}]`, id));
}

export function requireOrder(name: string, order: MessageOrder): void {
  if (order !== "none" && order !== "businessKey")
    throw new RangeError(`${name} must be "none" or "businessKey"`);
}

/** A relay that claims, and for how long. Instants are milliseconds since the epoch. */
export interface ClaimRequest {
  /** The name of the relay. */
  readonly worker: string;

  /** The instant of the request. */
  readonly now: number;

  /** When the claims end. */
  readonly until: number;
}

/** Options for {@link OutboxStore.save}. */
export interface SaveOptions {
  /**
   * Whether the commit wakes relays that listen. Stores that cannot, ignore it.
   *
   * @defaultValue `false`
   */
  readonly notify?: boolean | undefined;
}

/** A message and the SQL that saves it. */
export interface SaveStatements {
  /** The message as it will be stored. */
  readonly message: Message;

  /** The statements, in order. */
  readonly statements: readonly Statement[];
}

/** The outcome of an attempt that failed. */
export interface Failure {
  /** When it failed: milliseconds since the epoch. */
  readonly now: number;

  /** The error, as text. */
  readonly error: string;

  /** When the message is due again; undefined makes it `dead`. */
  readonly nextScheduleTime: number | undefined;
}

/** Guards the writes of a lock's holder: a token that is not the newest is refused. */
export interface Fence {
  /** One fence for each lock. */
  readonly name: string;

  /** The token of the leadership. */
  readonly token: number;
}

/** The dead messages to replay, the instant, and the name of the operator. */
export interface ReplayRequest {
  /**
   * The messages.
   *
   * @defaultValue all dead ones
   */
  readonly ids?: readonly string[] | undefined;

  /** The user or program that asks for it. Not empty, at most 255 bytes. */
  readonly editor: string;

  /** The instant: milliseconds since the epoch. */
  readonly now: number;
}

/** The number of messages of each status that are not finished well. */
export type Backlog = Readonly<Record<Exclude<MessageStatus, "success">, number>>;

/**
 * Where messages are kept.
 *
 * A store has no clock: `now` is an argument everywhere. Every write after a claim names the number of
 * the claim, and changes nothing when there is a newer one.
 *
 * @typeParam Tx - a transaction of the business change
 */
export interface OutboxStore<Tx> {
  /** The order in which messages of one business key are claimed. */
  readonly order: MessageOrder;

  /**
   * Saves a message in the caller's transaction. Without a commit there is no message.
   *
   * @throws RangeError or TypeError that names the field, before anything is sent to the database: the
   * transaction goes on
   */
  save(tx: Tx, message: NewMessage, now: number, options?: SaveOptions): Promise<Message>;

  /** The statements that save a message, to run in a transaction of a query layer. Only SQL stores. */
  statements?(message: NewMessage, now: number, options?: SaveOptions): SaveStatements;

  /** Claims messages that were just saved: those of them that were never claimed before. */
  claimSaved(ids: readonly string[], request: ClaimRequest): Promise<Claimed>;

  /**
   * Claims messages that are due, the earliest first; skips those that another relay is claiming.
   *
   * @param limit - the maximum number
   */
  claimDue(request: ClaimRequest, limit: number): Promise<Claimed>;

  /** When the next message can be claimed; undefined if there is none. */
  nextDue(): Promise<number | undefined>;

  /**
   * Writes that the receiver has confirmed the message.
   *
   * @returns false, and changes nothing, if the claim is no longer the newest
   */
  markSuccess(claim: Claim, now: number): Promise<boolean>;

  /**
   * Writes that the attempt has failed.
   *
   * @returns false, and changes nothing, if the claim is no longer the newest
   */
  markFail(claim: Claim, failure: Failure): Promise<boolean>;

  /**
   * Gives a claim back without an attempt: the message is due as before.
   *
   * @returns false, and changes nothing, if the claim is no longer the newest
   */
  release(claim: Claim): Promise<boolean>;

  /**
   * Finds claims that ended without an outcome: their relays died, or could not reach the database.
   *
   * @param limit - the maximum number; those that ended first come first
   */
  orphans(now: number, limit: number): Promise<Claimed>;

  /**
   * Ends an orphaned claim. Its attempt counts in `lostAttempts`, not as a failure: it may have been
   * confirmed.
   *
   * @returns false, and changes nothing, if the claim is no longer the newest
   * @throws StaleFenceError if another holder has written with a newer token
   */
  releaseOrphan(claim: Claim, lost: Failure, fence: Fence): Promise<boolean>;

  /**
   * Makes dead messages pending again, due now, with all their retries.
   *
   * @returns how many
   * @throws RangeError or TypeError that names the field
   */
  replay(request: ReplayRequest): Promise<number>;

  /**
   * Removes messages that were confirmed before an instant, with their contents.
   *
   * @param limit - the maximum number
   * @returns how many
   */
  removeConfirmed(before: number, limit: number): Promise<number>;

  /**
   * Reports messages whose commit notifies, from any process. Optional: without it, messages of other
   * processes are sent when their first wait is over.
   *
   * @param onSaved - receives their ids
   * @returns a promise that resolves on abort, and rejects if the connection is lost
   */
  listen?(onSaved: (ids: readonly string[]) => void, signal: AbortSignal): Promise<void>;

  /** A message in any status; undefined if there is none with this id, or its row is not a valid message. */
  find(id: string): Promise<Message | undefined>;

  /** The number of messages that are not finished well. Costs as much as there are of them. */
  backlog(): Promise<Backlog>;

  /** The number of messages of each status. Reads the whole table. */
  counts(): Promise<Readonly<Record<MessageStatus, number>>>;
}
