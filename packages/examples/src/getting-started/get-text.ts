import type { Clock } from "@holdfast/clock";
import { expectOk, type Random, retry } from "@holdfast/wait";

/** A test passes its own. In production, both are undefined. */
export interface Machine {
  clock?: Clock;
  random?: Random;
}

export function getText(url: string, signal: AbortSignal, machine?: Machine): Promise<string> {
  const { clock, random } = machine ?? {};
  return retry(
    async (attempt) => {
      const response = await fetch(url, { signal: attempt.signal });
      return (await expectOk(response, { clock })).text();
    },
    {
      backoff: { duration: 100, factor: 2, jitter: 0.5, random },
      attemptTimeout: 10_000,
      maxElapsed: 60_000,
      signal,
      clock,
    },
  );
}
