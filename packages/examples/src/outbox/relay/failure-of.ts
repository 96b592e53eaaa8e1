import { isTerminalError, jitter, type Random, RetryAfterError } from "@holdfast/wait";
import type { Message } from "../message/message.ts";
import { instantAfter, LONGEST_WAIT, waitAfter } from "../message/schedule.ts";
import type { Failure } from "../store/outbox-store.ts";

/** The longest wait that the other side can ask for, in milliseconds: a day. */
const LONGEST_RETRY_AFTER = 24 * 60 * 60 * 1_000;

/** How much of an error is kept, in characters. */
const LONGEST_ERROR = 2_000;

/** What else a failure depends on. */
export interface FailureFacts {
  readonly now: number;
  /** The largest share of a wait that may be added to it. */
  readonly jitter: number;
  readonly random: Random | undefined;
}

/**
 * What comes of an attempt that failed. The first row that fits decides.
 *
 * | The error | The message | It is |
 * | --- | --- | --- |
 * | is a `TerminalError` | | dead |
 * | | has now failed `maxRetryTimes` times | dead |
 * | is a `RetryAfterError` | | tried again then, but not before its own wait is over |
 * | is any other | | tried again after `init × factor^failures`, and the jitter |
 */
export function failureOf(error: unknown, message: Message, facts: FailureFacts): Failure {
  const failures = message.currentRetryTimes + 1;
  const isDead = isTerminalError(error) || failures >= message.maxRetryTimes;
  // A row that somebody else has changed may ask for more than a database can write down.
  const planned = Math.min(waitAfter(failures, message), LONGEST_WAIT);
  // With a share of 0, as in Go, jitter would add the largest one.
  const wait = facts.jitter > 0 ? jitter(planned, facts.jitter, facts.random) : planned;
  const asked = Math.min(RetryAfterError.delayOf(error) ?? 0, LONGEST_RETRY_AFTER);
  return {
    now: Math.floor(facts.now),
    error: textOf(error),
    nextScheduleTime: isDead ? undefined : instantAfter(Math.max(wait, asked), facts.now),
  };
}

/** An error with its causes, as text that a database keeps. */
function textOf(error: unknown): string {
  const parts: string[] = [];
  for (let cause: unknown = error; cause !== undefined && parts.length < 5; ) {
    parts.push(wordsOf(cause));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return parts.join(", because of ").replaceAll("\0", "\uFFFD").slice(0, LONGEST_ERROR);
}

/** Whatever a publisher throws, it must be written down, or the message would be sent again at once. */
function wordsOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return "an error that cannot be put into words";
  }
}
