import type { Clock } from "@holdfast/clock";
import type { TokenBucketLimiter } from "@holdfast/controller";
import { expectOk, TerminalError, withTimeout } from "@holdfast/wait";

/** A record at the provider. `owner` is the UID of its DnsRecord. */
export type Remote = Record<"name" | "type" | "value" | "ttl" | "owner", string>;

/** Sends one request to the provider. Resolves with the owner's records after it. */
export type Provider = (
  ...request: [method: "GET" | "PUT" | "DELETE", record: { owner: string }, signal: AbortSignal]
) => Promise<Remote[]>;

export type Fetch = typeof globalThis.fetch;
type Options = { url: string; fetch: Fetch; limiter: TokenBucketLimiter; clock: Clock };

/** The provider has seen a request for this record with a newer fencing token. */
export class StaleTokenError extends Error {}

/** The provider under one term of a lease. Each request carries the term's fencing token. */
export function providerOf(token: number, options: Options): Provider {
  const { url, fetch, limiter, clock } = options;
  const headers = { "fencing-token": `${token}` };
  /** A body that stalls must not hide the status. */
  const reasonOf = (response: Response): Promise<string> =>
    withTimeout(() => response.text(), 500, { clock }).catch(() => `HTTP ${response.status}`);
  return async (method, record, parent) => {
    const query = new URLSearchParams(record);
    const ask = async (signal: AbortSignal): Promise<Remote[]> => {
      const response = await fetch(`${url}/records?${query}`, { method, headers, signal });
      if (response.status === 412) throw new StaleTokenError("a later term took the record over");
      if (response.status === 409) throw new Error(await reasonOf(response)); // temporary, so retried
      if (response.status === 422) throw new TerminalError(await reasonOf(response)); // its record is at fault
      await expectOk(response, { clock }); // 429: RetryAfterError; other 4xx: TerminalError
      const type = response.headers.get("content-type");
      if (type !== "application/json") throw new Error(`the provider sent ${type}, not JSON`);
      return (await response.json()) as Remote[];
    };
    await limiter.acquire(parent);
    return await withTimeout(ask, 5_000, { signal: parent, clock });
  };
}
