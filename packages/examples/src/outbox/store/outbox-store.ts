import type { Message, NewMessage } from "../message/message.ts";
import type { MessageStatus } from "../message/message-status.ts";
import type { Claim, Claimed } from "./claim.ts";

/** Whom a claim is for, and for how long. Instants are milliseconds since the epoch. */
export interface ClaimRequest {
  readonly worker: string;
  readonly now: number;
  readonly until: number;
}

/** How an attempt failed, and what comes of it. */
export interface Failure {
  readonly now: number;
  readonly error: string;
  /** When it is tried again; undefined if never, which makes it `dead`. */
  readonly nextScheduleTime: number | undefined;
}

/** What guards a write of the compensation task: a token that is not the newest is turned away. */
export interface Fence {
  readonly name: string;
  readonly token: number;
}

/** Which dead messages are brought back, when, and by whom. */
export interface ReplayRequest {
  /** All dead ones if not given. */
  readonly ids?: readonly string[] | undefined;
  readonly editor: string;
  readonly now: number;
}

/**
 * Where messages are kept.
 *
 * `now` is an argument everywhere: a store has no clock. Every write after a claim states the claim's
 * number, and changes nothing when there is a newer one.
 *
 * @typeParam Tx - a transaction of the business change
 */
export interface OutboxStore<Tx> {
  /** Saves a message in the caller's transaction. It does not exist unless that commits. */
  save(tx: Tx, message: NewMessage, now: number): Promise<Message>;

  /** Claims messages that have just been saved, those of them that nobody has ever claimed. */
  claimSaved(ids: readonly string[], request: ClaimRequest): Promise<Claimed>;

  /**
   * Claims messages that are due, the earliest first, past those that others are just claiming.
   *
   * @param limit - how many at most
   */
  claimDue(request: ClaimRequest, limit: number): Promise<Claimed>;

  /** When the next unclaimed message is due; undefined if there is none. */
  nextDue(): Promise<number | undefined>;

  /**
   * The other side has confirmed the message.
   *
   * @returns false, and changes nothing, if the claim is no longer the newest
   */
  markSuccess(claim: Claim, now: number): Promise<boolean>;

  /**
   * The attempt has failed.
   *
   * @returns false, and changes nothing, if the claim is no longer the newest
   */
  markFail(claim: Claim, failure: Failure): Promise<boolean>;

  /**
   * Gives a claim back without an attempt: the message is due as it was.
   *
   * @returns false, and changes nothing, if the claim is no longer the newest
   */
  release(claim: Claim): Promise<boolean>;

  /**
   * Claims that ended without an outcome: their workers have died, or were away from the database.
   *
   * @param limit - how many at most, those that ended first
   */
  orphans(now: number, limit: number): Promise<Claimed>;

  /**
   * Counts the attempt of a worker that has died as a failed one.
   *
   * @returns false, and changes nothing, if the claim is no longer the newest
   * @throws StaleFenceError if somebody has written with a newer token
   */
  releaseOrphan(claim: Claim, failure: Failure, fence: Fence): Promise<boolean>;

  /**
   * Makes dead messages pending again, due now, with all their retries.
   *
   * @returns how many
   */
  replay(request: ReplayRequest): Promise<number>;

  /** A message, whatever its status; undefined if there is none, or its row is no message. */
  find(id: string): Promise<Message | undefined>;

  /** How many messages there are of each status. */
  counts(): Promise<Readonly<Record<MessageStatus, number>>>;
}
