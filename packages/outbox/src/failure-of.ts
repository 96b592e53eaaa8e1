import { isTerminalError, jitter, type Random, RetryAfterError } from "@holdfast/wait";
import type { Message } from "./message/message.ts";
import { delayAfter, MAX_DELAY, MAX_EXPIRED_ALONE } from "./message/schedule.ts";
import type { Claim } from "./store/claim.ts";
import type { Failure } from "./store/outbox-store.ts";

/** The longest delay that a receiver can ask for, in milliseconds: a day. */
const MAX_ASKED = 24 * 60 * 60 * 1_000;

/** The kept part of an error, in characters. */
const MAX_ERROR = 2_000;

/** The other facts a failure depends on. */
export interface FailureFacts {
  readonly now: number;
  /** The largest share of a delay that may be added to it. */
  readonly jitter: number;
  readonly random: Random | undefined;
}

/**
 * The failure of an attempt. The first row that fits decides.
 *
 * | Error | Message | Result |
 * | --- | --- | --- |
 * | a `TerminalError` | | dead letter |
 * | any | has now failed `maxAttempts` times, or the next attempt would begin after its `maxAge` | dead letter |
 * | a `RetryAfterError` | | next attempt then, but not before its own delay is over |
 * | any other | | next attempt after `duration × factor^(failures − 1)`, at most `cap`, plus the jitter |
 */
export function failureOf(error: unknown, message: Message, facts: FailureFacts): Failure {
  const failures = message.failedAttempts + 1;
  const asked = Math.min(RetryAfterError.delayOf(error) ?? 0, MAX_ASKED);
  const delay = Math.max(delayWithJitter(failures, message, facts), asked);
  const dueAt = Math.ceil(facts.now + delay);
  const isDead =
    isTerminalError(error) || failures >= message.maxAttempts || isExpired(message, dueAt);
  return {
    now: Math.floor(facts.now),
    error: textOf(error),
    dueAt: isDead ? undefined : dueAt,
  };
}

/** Whether a message is older than its `maxAge` at an instant. */
export function isExpired({ expiresAt }: Message, now: number): boolean {
  return expiresAt !== undefined && now >= expiresAt;
}

/** The failure of a message that is too old for an attempt. */
export function tooOld({ lastError }: Message, now: number): Failure {
  const error = `older than its maxAge${lastError === undefined ? "" : `; before: ${lastError}`}`;
  return { now: Math.floor(now), error: storable(error.slice(0, MAX_ERROR)), dueAt: undefined };
}

/**
 * The failure of a claim that expired: its attempt may have failed, or succeeded. The first one costs nothing, because
 * other claims were held beside it and its attempt may not have begun. The later ones were attempted alone.
 */
export function expiredClaim({ message, relay }: Claim, facts: FailureFacts): Failure {
  const alone = message.expiredClaims;
  const delay = alone > 0 ? delayWithJitter(message.failedAttempts + alone, message, facts) : 0;
  return {
    now: Math.floor(facts.now),
    error: `the claim of ${relay} expired: it died, or could not write the outcome`,
    dueAt: alone >= MAX_EXPIRED_ALONE ? undefined : Math.ceil(facts.now + delay),
  };
}

function delayWithJitter(failures: number, message: Message, facts: FailureFacts): number {
  // A row that another program has changed may ask for more than a database can store.
  const planned = Math.min(delayAfter(failures, message.backoff), MAX_DELAY);
  return jitter(planned, facts.jitter, facts.random);
}

/** An error with its causes, as text that a database keeps. */
function textOf(error: unknown): string {
  const parts: string[] = [];
  for (let cause: unknown = error; cause !== undefined && parts.length < 5; ) {
    parts.push(describe(cause));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return storable(parts.join(", because of ").slice(0, MAX_ERROR));
}

/** Without NUL and lone surrogates, which a cut may leave. */
function storable(text: string): string {
  return text.replaceAll(/\0|\p{Surrogate}/gu, "\uFFFD");
}

/** An error that cannot be written down would be sent again at once, so every value becomes text. */
function describe(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return "an error without a readable message";
  }
}
