import type { Clock } from "@holdfast/clock";
import type { Random } from "@holdfast/wait";
import type { Remote } from "../operator/provider.ts";
import { RemoteRecords, type WriteResult } from "./remote-records.ts";

/** The parts of an HTTP request that the provider reads. */
export interface ProviderRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly token: string | undefined;
}

export interface ProviderResponse {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly retryAfter?: number;
}

/** Requests per second, and the size of the bucket. */
export const QUOTA = { rate: 125, burst: 300 };

/** Duration of a write in milliseconds: `least` plus a random part of `more`. */
const LATENCY = { least: 4, more: 8 };

const text = (status: number, body: string): ProviderResponse => {
  return { status, type: "text/plain", body };
};

/** What the provider responds while it fails: an outage, too many requests, a page of a proxy. */
const FAULTS = {
  outage: text(503, "service unavailable"),
  throttle: { ...text(429, "too many requests"), retryAfter: 1 },
  html: { status: 200, type: "text/html", body: "<h1>Welcome</h1>" },
} satisfies Record<string, ProviderResponse>;

/** A DNS provider in memory, with a quota and a fence. `serveProvider` adds HTTP. */
export class DnsProvider {
  readonly records: RemoteRecords = new RemoteRecords();
  /** The fault of all requests from now on. */
  fault: keyof typeof FAULTS | undefined;
  readonly #clock: Clock;
  readonly #random: Random;
  /** The newest token of each owner. Tokens of two slots say nothing of one another; an owner is always in one slot. */
  readonly #newestTokens = new Map<string, number>();
  #requests = 0;
  #overQuota = 0;
  #refused = 0;
  #quota = QUOTA.burst;
  #filledAt: number;

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = clock;
    this.#random = random;
    this.#filledAt = clock.monotonic();
  }

  get requests(): number {
    return this.#requests;
  }

  /** Requests beyond the quota. */
  get overQuota(): number {
    return this.#overQuota;
  }

  /** Refused writes of terms that are over. */
  get refused(): number {
    return this.#refused;
  }

  /** Handles a request. */
  async handle({ method, path, token = "0" }: ProviderRequest): Promise<ProviderResponse> {
    this.#requests += 1;
    if (!this.#takeQuota()) return { ...text(429, "quota exceeded"), retryAfter: 1 };
    if (this.fault !== undefined) return FAULTS[this.fault];
    const { pathname, searchParams } = new URL(path, "http://provider");
    if (pathname !== "/records") return text(404, "not found");
    const field = (name: keyof Remote): string => searchParams.get(name) ?? "";
    const [name, type, value] = [field("name"), field("type"), field("value")];
    const record: Remote = { name, type, value, ttl: field("ttl"), owner: field("owner") };
    this.#newestTokens.set(record.owner, Math.max(this.#newestOf(record), Number(token)));
    if (method === "PUT" || method === "DELETE") {
      const latency = LATENCY.least + this.#random() * LATENCY.more;
      await this.#clock.sleep(latency, { label: "provider writes" });
      const { status, reason = "" } = this.#write(method, record, Number(token));
      if (status !== 200) return text(status, reason);
    } else if (method !== "GET") return text(405, "use GET, PUT or DELETE");
    const body = JSON.stringify(this.records.of(record.owner));
    return { status: 200, type: "application/json", body };
  }

  #write(method: "PUT" | "DELETE", record: Remote, token: number): WriteResult {
    if (token < this.#newestOf(record)) {
      this.#refused += 1;
      const reason = `token ${token} is older than ${this.#newestOf(record)}`;
      return { status: 412, reason };
    }
    return method === "PUT" ? this.records.put(record) : this.records.delete(record);
  }

  #newestOf({ owner }: Remote): number {
    return this.#newestTokens.get(owner) ?? 0;
  }

  /** @returns false if the quota is used up */
  #takeQuota(): boolean {
    const now = this.#clock.monotonic();
    const earned = ((now - this.#filledAt) / 1_000) * QUOTA.rate;
    this.#quota = Math.min(QUOTA.burst, this.#quota + earned);
    this.#filledAt = now;
    if (this.#quota < 1) {
      this.#overQuota += 1;
      return false;
    }
    this.#quota -= 1;
    return true;
  }
}
