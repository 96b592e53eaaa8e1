import { realClock } from "@holdfast/clock";
import { expectOk, retry } from "@holdfast/wait";
import { describeError } from "./describe-error.ts";
import type { FetchOptions } from "./recipe-options.ts";

/**
 * Fetches a page as text, and tries again while the server is busy or unreachable.
 *
 * The server chooses the delay with `Retry-After`; without that header the backoff does. A status
 * such as 404 rejects at once.
 */
export async function fetchWithRetryAfter(url: string, options: FetchOptions): Promise<string> {
  const { signal, clock = realClock, random, log = console.log } = options;
  const { fetch = globalThis.fetch } = options;
  return await retry(
    async (attempt) => {
      const response = await expectOk(await fetch(url, { signal: attempt.signal }), { clock });
      return await response.text();
    },
    {
      backoff: { duration: 500, factor: 2, cap: 30_000, jitter: "equal", random },
      attemptTimeout: 10_000,
      maxElapsed: 5 * 60_000,
      onRetry: ({ error, delay }) =>
        log(`${describeError(error)}; next attempt in ${Math.round(delay)} ms`),
      signal,
      clock,
    },
  );
}
