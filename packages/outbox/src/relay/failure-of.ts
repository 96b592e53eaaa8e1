import { isTerminalError, jitter, type Random, RetryAfterError } from "@holdfast/wait";
import type { Message } from "../message/message.ts";
import { instantAfter, LONGEST_WAIT, MOST_LOST_ATTEMPTS, waitAfter } from "../message/schedule.ts";
import type { Claim } from "../store/claim.ts";
import type { Failure } from "../store/outbox-store.ts";

/** The longest wait that a receiver can ask for, in milliseconds: a day. */
const LONGEST_RETRY_AFTER = 24 * 60 * 60 * 1_000;

/** How much of an error is kept, in characters. */
const LONGEST_ERROR = 2_000;

/** The other facts a failure depends on. */
export interface FailureFacts {
  readonly now: number;
  /** The largest share of a wait that may be added to it. */
  readonly jitter: number;
  readonly random: Random | undefined;
}

/**
 * The outcome of an attempt that failed. The first row that fits decides.
 *
 * | Error | Message | Outcome |
 * | --- | --- | --- |
 * | a `TerminalError` | | dead |
 * | any | has now failed `maxRetryTimes` times | dead |
 * | a `RetryAfterError` | | tried again then, but not before its own wait is over |
 * | any other | | tried again after `init × factor^failures` plus the jitter |
 */
export function failureOf(error: unknown, message: Message, facts: FailureFacts): Failure {
  const failures = message.currentRetryTimes + 1;
  const isDead = isTerminalError(error) || failures >= message.maxRetryTimes;
  const asked = Math.min(RetryAfterError.delayOf(error) ?? 0, LONGEST_RETRY_AFTER);
  const wait = Math.max(waitWithJitter(failures, message, facts), asked);
  return {
    now: Math.floor(facts.now),
    error: textOf(error),
    nextScheduleTime: isDead ? undefined : instantAfter(wait, facts.now),
  };
}

/** The outcome of an attempt that was never written: it may have failed, or been confirmed. */
export function lostAttempt({ message, worker }: Claim, facts: FailureFacts): Failure {
  const lost = message.lostAttempts + 1;
  const wait = waitWithJitter(message.currentRetryTimes + lost, message, facts);
  return {
    now: Math.floor(facts.now),
    error: `${worker} died, or could not write the outcome of its attempt`,
    nextScheduleTime: lost >= MOST_LOST_ATTEMPTS ? undefined : instantAfter(wait, facts.now),
  };
}

function waitWithJitter(failures: number, message: Message, facts: FailureFacts): number {
  // A row that another program has changed may ask for more than a database can hold.
  const planned = Math.min(waitAfter(failures, message), LONGEST_WAIT);
  // With a share of 0, as in Go, jitter would add the largest one.
  return facts.jitter > 0 ? jitter(planned, facts.jitter, facts.random) : planned;
}

/** An error with its causes, as text that a database keeps. */
function textOf(error: unknown): string {
  const parts: string[] = [];
  for (let cause: unknown = error; cause !== undefined && parts.length < 5; ) {
    parts.push(wordsOf(cause));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return storable(parts.join(", because of ").slice(0, LONGEST_ERROR));
}

/** Without NUL and lone surrogates, which a cut may leave. */
function storable(text: string): string {
  return text.replaceAll(/\0|\p{Surrogate}/gu, "\uFFFD");
}

/** An error that cannot be written down would be sent again at once, so every value becomes text. */
function wordsOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return "an error without a readable message";
  }
}
