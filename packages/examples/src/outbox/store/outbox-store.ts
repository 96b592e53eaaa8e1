import type { Message, NewMessage } from "../message/message.ts";
import type { MessageStatus } from "../message/message-status.ts";
import type { Claim } from "./claim.ts";

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

/**
 * Where messages are kept.
 *
 * @typeParam Tx - a transaction of the business change
 */
export interface OutboxStore<Tx> {
  /** Saves a message in the caller's transaction. It does not exist unless that commits. */
  save(tx: Tx, message: NewMessage, now: number): Promise<Message>;

  /** Claims messages by id, those of them that nobody else has claimed and that are not done. */
  claim(ids: readonly string[], request: ClaimRequest): Promise<readonly Claim[]>;

  /**
   * Claims messages that are due, the earliest first, past those that others are just claiming.
   *
   * @param limit - how many at most
   */
  claimDue(request: ClaimRequest, limit: number): Promise<readonly Claim[]>;

  /** When the next unclaimed message is due; undefined if there is none. */
  nextDue(): Promise<number | undefined>;

  /** @returns false, and changes nothing, if the claim is no longer the newest */
  markSuccess(claim: Claim, now: number): Promise<boolean>;

  /** @returns false, and changes nothing, if the claim is no longer the newest */
  markFail(claim: Claim, failure: Failure): Promise<boolean>;

  /**
   * Claims that ended without an outcome: their workers have died.
   *
   * @param limit - how many at most
   */
  orphans(now: number, limit: number): Promise<readonly Claim[]>;

  /**
   * Counts the attempt of a worker that has died as a failed one.
   *
   * @returns false, and changes nothing, if the claim is no longer the newest
   * @throws StaleFenceError if another holder has written with a newer token
   */
  releaseOrphan(claim: Claim, failure: Failure, fence: Fence): Promise<boolean>;

  /**
   * Makes dead messages pending again, due now, with all their retries.
   *
   * @param ids - which; all if undefined
   * @returns how many
   */
  replay(ids: readonly string[] | undefined, now: number): Promise<number>;

  /** How many messages there are of each status. */
  counts(): Promise<Readonly<Record<MessageStatus, number>>>;
}
