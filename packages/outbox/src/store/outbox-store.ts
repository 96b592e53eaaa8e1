import { type Kind, kind } from "@holdfast/kit";
import type { Message, MessageStatus, NewMessage, SavedMessage } from "../message/message.ts";
import type { Activity } from "./activity.ts";
import type { Claim, Claimed } from "./claim.ts";
import type { Statement } from "./database.ts";

/**
 * The order of messages of one key.
 *
 * | Order | Promise |
 * | --- | --- |
 * | `none` | none: other messages overtake one that fails |
 * | `key` | messages of one key are sent one at a time, in the order in which they were saved; the next one when the previous one is `delivered` or `dead` |
 */
export type MessageOrder = "none" | "key";

export const messageOrder: Kind = kind("messageOrder", requireOrder);

function requireOrder(name: string, order: MessageOrder): void {
  if (order !== "none" && order !== "key") throw new RangeError(`${name} must be "none" or "key"`);
}

/** Selects among the messages that no relay holds. */
export interface ClaimFilter {
  /**
   * Only messages of these topics.
   *
   * @defaultValue all
   */
  readonly topics?: readonly string[] | undefined;

  /**
   * No messages of these topics.
   *
   * @defaultValue none
   */
  readonly exceptTopics?: readonly string[] | undefined;

  /**
   * With `true` only messages of which a claim has expired, with `false` only the others.
   *
   * @defaultValue both
   */
  readonly hasExpired?: boolean | undefined;
}

/** A request for messages that are due. Instants are milliseconds since the epoch. */
export interface ClaimRequest extends ClaimFilter {
  /** The name of the relay. */
  readonly relay: string;

  /** The instant of the request. */
  readonly now: number;

  /** The instant the claims expire. */
  readonly until: number;

  /** The maximum number of messages. */
  readonly limit: number;

  /**
   * The maximum size of their payloads together, in bytes. The first message is claimed whatever its size.
   *
   * @defaultValue no maximum
   */
  readonly maxBytes?: number | undefined;
}

/** A message and the SQL that saves it. */
export interface SaveStatements {
  /** The message as it will be stored. */
  readonly message: Message;

  /** The statements, in order. */
  readonly statements: readonly Statement[];
}

/** A failed attempt. */
export interface Failure {
  /** The instant it failed: milliseconds since the epoch. */
  readonly now: number;

  /** The error, as text. */
  readonly error: string;

  /** The instant of the next attempt; undefined makes the message a dead letter. */
  readonly dueAt: number | undefined;
}

/**
 * The outcome of a claim.
 *
 * | Type | Effect |
 * | --- | --- |
 * | `delivered` | the receiver has confirmed the message |
 * | `failed` | the attempt failed: the message is `retrying`, or `dead` |
 * | `released` | no attempt was made: the message is due as before |
 */
export type Outcome =
  | { readonly type: "delivered"; readonly claim: Claim; readonly now: number }
  | { readonly type: "failed"; readonly claim: Claim; readonly failure: Failure }
  | { readonly type: "released"; readonly claim: Claim };

/** Protects the writes of a lock's holder: a token that is not the newest is refused. */
export interface Fence {
  /** One fence for each lock. */
  readonly name: string;

  /** The token of the leadership. */
  readonly token: number;
}

/** Selects dead letters: those with one of some ids, those of a topic, or all. */
export type DeadLetterSelection =
  | { readonly ids: readonly string[] }
  | { readonly topic: string }
  | "all";

/** A page of dead letters. */
export interface DeadLetterPage {
  /** Only those of this topic; undefined for all. */
  readonly topic: string | undefined;

  /** Only those that follow this one; undefined for the first page. */
  readonly after: Pick<Message, "id" | "updatedAt"> | undefined;

  /** The maximum number. */
  readonly limit: number;
}

/** The number up to which {@link OutboxStore.backlog} counts the messages of a status. */
export const BACKLOG_LIMIT = 10_000;

/** The number of messages of each status that is not `delivered`, at most 10,000: that stands for as many or more. */
export type Backlog = Readonly<Record<Exclude<MessageStatus, "delivered">, number>>;

/**
 * Where messages are kept.
 *
 * A store has no clock: `now` is an argument everywhere. Every write after a claim names the number of
 * the claim, and changes nothing when there is a newer one.
 *
 * A `signal` ends a request: it rejects with `signal.reason` at once, and a connection that waits for a response is
 * closed, because the response may never come.
 *
 * @typeParam Tx - a transaction of the business change
 */
export interface OutboxStore<Tx> {
  /** The order in which messages of one key are claimed. */
  readonly order: MessageOrder;

  /**
   * Saves a message in the caller's transaction. Without a commit there is no message. One that is there already, by its
   * id or its unique key, is not saved again, and the transaction continues.
   *
   * @throws RangeError or TypeError that names the field, before anything is sent to the database: the
   * transaction continues
   */
  save(tx: Tx, message: NewMessage, now: number): Promise<SavedMessage>;

  /** Like `save`, for many messages in few statements, in their order. */
  saveAll(tx: Tx, messages: readonly NewMessage[], now: number): Promise<readonly SavedMessage[]>;

  /**
   * Removes a message that no relay has claimed yet. Its unique key is free again.
   *
   * @param tx - the caller's transaction; without one, the store uses its own
   * @returns false if there is none
   */
  cancel(id: string, tx?: Tx): Promise<boolean>;

  /**
   * Takes a key in the caller's transaction. Another transaction that takes it at the same time waits for the end of this
   * one.
   *
   * @param keep - how long the key is taken, in milliseconds
   * @returns false if it is taken
   */
  takeOnce(tx: Tx, key: string, now: number, keep: number): Promise<boolean>;

  /**
   * Removes keys, those of messages and of {@link OutboxStore.takeOnce}, whose time is over.
   *
   * @param limit - the maximum number
   * @returns how many
   */
  removeOnce(now: number, limit: number, signal?: AbortSignal): Promise<number>;

  /** The statements that save a message, to run in a transaction of a query layer. Only SQL stores. */
  statements?(message: NewMessage, now: number): SaveStatements;

  /** Wakes relays that listen, in all processes. Optional: without it, they look every `pollInterval`. */
  notify?(): Promise<void>;

  /**
   * Reports notifications of all processes. Optional.
   *
   * @param onNotify - called for each, and once it listens: of a message that was saved before, nobody has heard
   * @returns a promise that resolves on abort, and rejects if the connection is lost
   */
  listen?(onNotify: () => void, signal: AbortSignal): Promise<void>;

  /**
   * Holds a topic: relays claim none of its messages until it is resumed. Optional, with `resume` and `pausedTopics`.
   *
   * @returns false if it is paused already
   */
  pause?(topic: string, now: number): Promise<boolean>;

  /**
   * Ends a pause.
   *
   * @returns false if the topic is not paused
   */
  resume?(topic: string): Promise<boolean>;

  /** The topics that are paused, in the order of their names. A relay asks at its start and every `pollInterval`. */
  pausedTopics?(signal?: AbortSignal): Promise<readonly string[]>;

  /** Claims messages that are due, by their priority and the earliest first; skips those that another relay is claiming. */
  claim(request: ClaimRequest, signal?: AbortSignal): Promise<Claimed>;

  /**
   * The wall clock of the database, in milliseconds since the epoch. Optional: a relay measures with it how far its own
   * clock is ahead, and recovery and retention act by the earlier of both.
   */
  now?(signal?: AbortSignal): Promise<number>;

  /**
   * Why the database may hide messages from this store: row level security of PostgreSQL. Optional.
   *
   * @returns the reason, for people; undefined if the store sees all messages
   */
  restriction?(signal?: AbortSignal): Promise<string | undefined>;

  /** The instant at which the next message can be claimed; undefined if there is none. */
  nextDue(signal?: AbortSignal, filter?: ClaimFilter): Promise<number | undefined>;

  /**
   * Writes outcomes of claims, all in one transaction.
   *
   * @returns for each whether it was written. An outcome of a claim that is not the newest is ignored, and so
   * is a second one, unless it is `delivered`
   */
  write(outcomes: readonly Outcome[], signal?: AbortSignal): Promise<readonly boolean[]>;

  /**
   * Finds claims that expired without an outcome: their relays died, or could not reach the database.
   *
   * @param limit - the maximum number; those that expired first come first
   */
  expired(now: number, limit: number, signal?: AbortSignal): Promise<Claimed>;

  /**
   * Ends an expired claim. It counts in `expiredClaims`, not as a failed attempt: the message may have been
   * delivered.
   *
   * @returns false, and changes nothing, if the claim is not the newest
   * @throws StaleFenceError if another holder has written with a newer token
   */
  recover(claim: Claim, failure: Failure, fence: Fence, signal?: AbortSignal): Promise<boolean>;

  /** Lists dead letters, those that died first come first. */
  deadLetters(page: DeadLetterPage): Promise<readonly Message[]>;

  /**
   * Makes dead letters pending again, due now, with all their attempts.
   *
   * @returns how many
   */
  replay(selection: DeadLetterSelection, now: number): Promise<number>;

  /**
   * Removes dead letters.
   *
   * @returns how many
   */
  discard(selection: DeadLetterSelection): Promise<number>;

  /**
   * Removes messages that were delivered before an instant.
   *
   * @param limit - the maximum number
   * @returns how many
   */
  removeDelivered(before: number, limit: number, signal?: AbortSignal): Promise<number>;

  /** A message in any status; undefined if there is none with this id, or its row is not a valid message. */
  find(id: string): Promise<Message | undefined>;

  /**
   * The number of messages that are not delivered. It counts up to 10,000 of each status, so that it costs the same
   * however many there are.
   */
  backlog(signal?: AbortSignal): Promise<Backlog>;

  /** The instant at which the oldest message that is neither delivered nor dead was saved; undefined without one. Optional. */
  oldest?(signal?: AbortSignal): Promise<number | undefined>;

  /**
   * What has happened in each topic. It reads at most 10,000 messages of each status: the newest, and of those that are
   * pending the first. Messages that a relay holds, or that wait behind another one of their key, may be missing. Optional.
   *
   * @param since - the instant since which slots are told apart; delivered messages of before are left out
   */
  activity?(since: number, signal?: AbortSignal): Promise<readonly Activity[]>;

  /** The number of messages of each status. Reads the whole table. */
  counts(): Promise<Readonly<Record<MessageStatus, number>>>;
}
