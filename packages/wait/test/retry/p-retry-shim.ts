import type { Clock } from "@holdfast/clock";
import { type Random, retry, TerminalError } from "@holdfast/wait";

export class AbortError extends Error {
  readonly originalError: Error;
  constructor(message: string | Error) {
    super(String(message));
    this.originalError = message instanceof Error ? message : new Error(message);
  }
}

/** p-retry's function by `retry`: what the guide "Coming from p-retry" says, as code. */
export async function pRetry<T>(
  input: (attemptNumber: number) => T | PromiseLike<T>,
  options: Options = {},
): Promise<T> {
  const { retries = 10, factor = 2, randomize = false, maxRetryTime = Infinity } = options;
  const { minTimeout: duration = 1_000, maxTimeout: cap = Infinity } = options;
  const { signal, clock, random } = options;
  const backoff = { duration, factor: factor || 1, cap, jitter: randomize ? 1 : 0, random };
  const contextOf = (error: unknown, attempt: number): Context =>
    Object.freeze({
      error,
      attemptNumber: attempt,
      retriesLeft: Math.max(retries - attempt + 1, 0),
    });
  const end = (cause: unknown): never => {
    throw new TerminalError("ended", { cause });
  };
  const work = async ({ attempt }: { attempt: number }): Promise<T> => {
    try {
      return await input(attempt);
    } catch (thrown) {
      if (thrown instanceof AbortError) return end(thrown.originalError);
      const error =
        thrown instanceof Error ? thrown : new TypeError(`Non-error was thrown: ${thrown}`);
      const notified = async () => options.onFailedAttempt?.(contextOf(error, attempt));
      await notified().catch(end);
      throw error;
    }
  };
  try {
    return await retry(work, {
      retries,
      maxElapsed: maxRetryTime,
      signal,
      clock,
      backoff,
      shouldRetry: async ({ error, attempt, elapsed }) =>
        elapsed < maxRetryTime &&
        (!(error instanceof TypeError) || error.message === "Failed to fetch") &&
        ((await options.shouldRetry?.(contextOf(error, attempt))) ?? true),
      delay: ({ elapsed }, next) => Math.max(Math.min(next, cap, maxRetryTime - elapsed), 0),
    });
  } catch (error) {
    throw error instanceof TerminalError && error.message === "ended" ? error.cause : error;
  }
}

export interface Context {
  readonly error: unknown;
  readonly attemptNumber: number;
  readonly retriesLeft: number;
}

export interface Options {
  readonly retries?: number;
  readonly factor?: number;
  readonly minTimeout?: number;
  readonly maxTimeout?: number;
  readonly maxRetryTime?: number;
  readonly randomize?: boolean;
  readonly onFailedAttempt?: ((context: Context) => unknown) | undefined;
  readonly shouldRetry?: ((context: Context) => boolean | PromiseLike<boolean>) | undefined;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly random?: Random;
}
