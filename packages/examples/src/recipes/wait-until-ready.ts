import { realClock } from "@holdfast/clock";
import { isTimeoutError, poll, withTimeout } from "@holdfast/wait";
import { describeError } from "./describe-error.ts";
import type { FetchOptions } from "./recipe-options.ts";

/** Options for {@link waitUntilReady}. */
export interface ReadyOptions extends FetchOptions {
  /** Maximum wait in milliseconds; 60,000 by default. */
  readonly timeout?: number;
}

/** Asks a server twice per second until it answers with a status from 200 to 299. */
export async function waitUntilReady(url: string, options: ReadyOptions): Promise<void> {
  const { signal, clock = realClock, log = console.log, timeout = 60_000 } = options;
  const { fetch = globalThis.fetch } = options;
  const answers = async (own: AbortSignal): Promise<boolean> => {
    const { ok, status, body } = await fetch(url, { signal: own });
    await body?.cancel();
    if (!ok) log(`not ready: HTTP ${status}`);
    return ok;
  };
  try {
    await poll((call) => withTimeout(answers, 2_000, { signal: call.signal, clock }), {
      interval: 500,
      onError: (error) => log(`not ready: ${describeError(error)}`),
      timeout,
      signal,
      clock,
    });
  } catch (cause) {
    if (!isTimeoutError(cause)) throw cause;
    throw new Error(`${url} is not ready after ${timeout} ms: look into its log`, { cause });
  }
}
