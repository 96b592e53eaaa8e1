import type { Clock } from "@holdfast/clock";
import { expectOk, retry } from "@holdfast/wait";

export function getText(url: string, signal: AbortSignal, clock?: Clock): Promise<string> {
  return retry(
    async (attempt) => {
      const response = await fetch(url, { signal: attempt.signal });
      return (await expectOk(response, { clock })).text();
    },
    { attemptTimeout: 10_000, maxElapsed: 60_000, signal, clock },
  );
}
