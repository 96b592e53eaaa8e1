import { type Clock, onAbort } from "@holdfast/clock";
import type { Random } from "@holdfast/wait";
import { deferred } from "../deferred.ts";
import type { Remote } from "../operator/provider.ts";
import { type ProviderFault, ProviderFaults } from "./provider-faults.ts";
import { Quota } from "./quota.ts";
import { RemoteRecords, type WriteResult } from "./remote-records.ts";
import { WriteAudit } from "./write-audit.ts";

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

/** The connection broke before a response. */
export class BrokenConnection extends Error {}

/** Duration of a write in milliseconds: `least` plus a random part of `more`. */
const LATENCY = { least: 4, more: 8 };

/** Extra duration of a slow request in milliseconds. */
const SLOW = 1_000;

export interface DnsProviderOptions {
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Faults to inject. Pass one instance to two providers to give both the same faults.
   *
   * @defaultValue an instance of its own
   */
  readonly faults?: ProviderFaults;
}

/** A write delayed on its way to the provider. */
export interface HeldWrite {
  /** Resolves with the token of the write as soon as one is held. */
  readonly token: Promise<number>;
  /** Delivers the write, even if its sender is gone. Resolves with the status of the response. */
  arrive(): Promise<number>;
}

/** A DNS provider in memory, with a quota and injected faults. `serveProvider` adds HTTP. */
export class DnsProvider {
  readonly records: RemoteRecords = new RemoteRecords();
  readonly audit: WriteAudit = new WriteAudit();
  readonly quota: Quota;
  readonly faults: ProviderFaults;
  readonly #clock: Clock;
  readonly #random: Random;
  /** Intercepts the next write. */
  #catch: ((token: number) => Promise<(status: number) => void>) | undefined;
  #newestToken = 0;
  #requests = 0;
  #overQuota = 0;
  #refused = 0;

  constructor({ clock, random, faults = new ProviderFaults(random) }: DnsProviderOptions) {
    this.#clock = clock;
    this.#random = random;
    this.quota = new Quota(clock);
    this.faults = faults;
  }

  /** Highest token of any request. */
  get newestToken(): number {
    return this.#newestToken;
  }

  get requests(): number {
    return this.#requests;
  }

  /** Requests beyond the quota. Must be 0. */
  get overQuota(): number {
    return this.#overQuota;
  }

  /** Refused writes of former leaders. */
  get refused(): number {
    return this.#refused;
  }

  /** Holds the next write until `arrive` is called, like a slow network. */
  holdNextWrite(): HeldWrite {
    const caught = deferred<number>();
    const released = deferred<undefined>();
    const answered = deferred<number>();
    this.#catch = async (token) => {
      this.#catch = undefined;
      caught.resolve(token);
      await released.promise;
      return answered.resolve;
    };
    const arrive = async (): Promise<number> => {
      released.resolve(undefined);
      return await answered.promise;
    };
    return { token: caught.promise, arrive };
  }

  /** Cancels a pending {@link holdNextWrite}. */
  holdNone(): void {
    this.#catch = undefined;
  }

  /**
   * Handles a request.
   *
   * @param gone - aborts when the sender closes its connection
   * @throws BrokenConnection if there is no response
   */
  async handle(request: ProviderRequest, gone: AbortSignal): Promise<ProviderResponse> {
    this.#requests += 1;
    const token = Number(request.token ?? 0);
    const isWrite = request.method !== "GET";
    if (isWrite && this.#catch !== undefined) {
      const told = await this.#catch(token);
      const response = await this.#carryOut(request, token, NEVER);
      told(response.status);
      return response;
    }
    if (!this.quota.take()) {
      this.#overQuota += 1;
      return { ...text(429, "quota exceeded"), retryAfter: 1 };
    }
    const fault = this.faults.draw();
    return (
      (fault && RESPONSES[fault]) ?? (await this.#tryToRespond(request, { token, gone, fault }))
    );
  }

  async #tryToRespond(
    request: ProviderRequest,
    { token, gone, fault }: Sent & { readonly fault: ProviderFault | undefined },
  ): Promise<ProviderResponse> {
    if (fault === "hang") await aborted(gone);
    if (fault === "reset") throw new BrokenConnection();
    if (fault === "slow") await this.#clock.sleep(SLOW, { label: "slow provider" });
    const response = await this.#carryOut(request, token, gone);
    if (fault === "drop") throw new BrokenConnection();
    return response;
  }

  async #carryOut(
    { method, path }: ProviderRequest,
    token: number,
    gone: AbortSignal,
  ): Promise<ProviderResponse> {
    const { pathname, searchParams } = new URL(path, "http://provider");
    if (pathname !== "/records") return text(404, "not found");
    const field = (name: keyof Remote): string => searchParams.get(name) ?? "";
    const record: Remote = {
      name: field("name"),
      type: field("type"),
      value: field("value"),
      ttl: field("ttl"),
      owner: field("owner"),
    };
    this.audit.seen(token);
    this.#newestToken = Math.max(this.#newestToken, token);
    if (method === "PUT" || method === "DELETE") {
      const refusal = await this.#write(method, record, { token, gone });
      if (refusal !== undefined) return refusal;
    } else if (method !== "GET") return text(405, "use GET, PUT or DELETE");
    const body = JSON.stringify(this.records.of(record.owner));
    return { status: 200, type: "application/json", body };
  }

  /** @returns the response to a refused write; undefined if the write was carried out */
  async #write(
    method: "PUT" | "DELETE",
    record: Remote,
    { token, gone }: Sent,
  ): Promise<ProviderResponse | undefined> {
    // Checked before the audit sees the write, and again in #commit.
    if (token < this.#newestToken) return this.#refuse(token);
    const write = this.audit.begin({ owner: record.owner, token, gone });
    const latency = LATENCY.least + this.#random() * LATENCY.more;
    await this.#clock.sleep(latency, { label: "provider writes" });
    const response = gone.aborted ? undefined : this.#commit(method, record, token);
    this.audit.end(write, response?.status === 200);
    if (response === undefined) throw new BrokenConnection();
    if (response.status === 412) return this.#refuse(token);
    return response.status === 200 ? undefined : text(response.status, response.reason ?? "");
  }

  #refuse(token: number): ProviderResponse {
    this.#refused += 1;
    return text(412, `token ${token} is older than ${this.#newestToken}`);
  }

  #commit(method: "PUT" | "DELETE", record: Remote, token: number): WriteResult {
    if (token < this.#newestToken) return { status: 412 };
    return method === "PUT" ? this.records.put(record) : this.records.delete(record);
  }
}

interface Sent {
  readonly token: number;
  readonly gone: AbortSignal;
}

/** Faults that respond without reading the request. */
const RESPONSES: Readonly<Partial<Record<ProviderFault, ProviderResponse>>> = {
  outage: text(503, "service unavailable"),
  throttle: { ...text(429, "too many requests"), retryAfter: 1 },
  html: { status: 200, type: "text/html", body: "<h1>Welcome</h1>" },
};

/** A held write is delivered even if its sender is gone. */
const NEVER = new AbortController().signal;

function text(status: number, body: string): ProviderResponse {
  return { status, type: "text/plain", body };
}

/** Rejects with a {@link BrokenConnection} when the signal aborts. */
async function aborted(signal: AbortSignal): Promise<never> {
  return await new Promise((_, reject) => {
    onAbort(signal, () => reject(new BrokenConnection()));
  });
}
