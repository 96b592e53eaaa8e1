import { type Clock, onAbort } from "@holdfast/clock";
import type { Random } from "@holdfast/wait";
import { deferred } from "../deferred.ts";
import type { Remote } from "../operator/provider.ts";
import { type ProviderFault, ProviderFaults } from "./provider-faults.ts";
import { Quota } from "./quota.ts";
import { RemoteRecords, type WriteAnswer } from "./remote-records.ts";
import { WriteAudit } from "./write-audit.ts";

/** A request, as a provider reads it. */
export interface ProviderRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly token: string | undefined;
}

/** An answer. */
export interface ProviderAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly retryAfter?: number;
}

/** The connection breaks, and no answer comes. */
export class BrokenConnection extends Error {}

/** Milliseconds that a write takes. */
const LATENCY = { least: 4, more: 8 };

/** How much longer a slow request takes, in milliseconds. */
const SLOW = 1_000;

export interface DnsProviderOptions {
  readonly clock: Clock;
  readonly random: Random;
  /**
   * The bad days.
   *
   * @defaultValue its own
   */
  readonly faults?: ProviderFaults;
}

/** A write that was kept back on its way. */
export interface HeldWrite {
  /** Resolves when a write is held, with its token. */
  readonly token: Promise<number>;
  /** Lets it arrive. Resolves with the status of its answer, which its sender may not be there to read. */
  arrive(): Promise<number>;
}

/** An HTTP DNS provider with a quota and bad days, in memory: the server in front of it has the sockets. */
export class DnsProvider {
  readonly records: RemoteRecords = new RemoteRecords();
  readonly audit: WriteAudit = new WriteAudit();
  readonly quota: Quota;
  readonly faults: ProviderFaults;
  readonly #clock: Clock;
  readonly #random: Random;
  /** Takes the next write off its way. */
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

  /** The highest token of a request. */
  get newestToken(): number {
    return this.#newestToken;
  }

  get requests(): number {
    return this.#requests;
  }

  /** Must be 0: requests beyond the quota. */
  get overQuota(): number {
    return this.#overQuota;
  }

  /** Writes of former leaders that were refused. */
  get refused(): number {
    return this.#refused;
  }

  /** Keeps back the next write, as a network may, until it is let go. */
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

  /** Catches no write any more. */
  holdNone(): void {
    this.#catch = undefined;
  }

  /**
   * Answers a request.
   *
   * @param gone - aborts when the sender has closed its connection
   * @throws BrokenConnection if there is no answer
   */
  async handle(request: ProviderRequest, gone: AbortSignal): Promise<ProviderAnswer> {
    this.#requests += 1;
    const token = Number(request.token ?? 0);
    const isWrite = request.method !== "GET";
    if (isWrite && this.#catch !== undefined) {
      const told = await this.#catch(token);
      const answer = await this.#carryOut(request, token, NEVER);
      told(answer.status);
      return answer;
    }
    if (!this.quota.take()) {
      this.#overQuota += 1;
      return { ...text(429, "quota exceeded"), retryAfter: 1 };
    }
    const fault = this.faults.draw();
    return (fault && ANSWERS[fault]) ?? (await this.#tryToAnswer(request, { token, gone, fault }));
  }

  async #tryToAnswer(
    request: ProviderRequest,
    { token, gone, fault }: Sent & { readonly fault: ProviderFault | undefined },
  ): Promise<ProviderAnswer> {
    if (fault === "hang") await aborted(gone);
    if (fault === "reset") throw new BrokenConnection();
    if (fault === "slow") await this.#clock.sleep(SLOW, { label: "slow provider" });
    const answer = await this.#carryOut(request, token, gone);
    if (fault === "lose") throw new BrokenConnection();
    return answer;
  }

  async #carryOut(
    { method, path }: ProviderRequest,
    token: number,
    gone: AbortSignal,
  ): Promise<ProviderAnswer> {
    const { pathname, searchParams } = new URL(path, "http://provider");
    if (pathname !== "/records") return text(404, "there is nothing here");
    const field = (name: keyof Remote): string => searchParams.get(name) ?? "";
    const record: Remote = {
      ...{ name: field("name"), type: field("type"), value: field("value") },
      ...{ ttl: field("ttl"), owner: field("owner") },
    };
    this.audit.seen(token);
    this.#newestToken = Math.max(this.#newestToken, token);
    if (method === "PUT" || method === "DELETE") {
      const refusal = await this.#write(method, record, { token, gone });
      if (refusal !== undefined) return refusal;
    } else if (method !== "GET") return text(405, "ask with GET, PUT or DELETE");
    const body = JSON.stringify(this.records.of(record.owner));
    return { status: 200, type: "application/json", body };
  }

  /** @returns the answer to a write that is refused */
  async #write(
    method: "PUT" | "DELETE",
    record: Remote,
    { token, gone }: Sent,
  ): Promise<ProviderAnswer | undefined> {
    // Now, so that it does not look like a write; and again when the write would be carried out.
    if (token < this.#newestToken) return this.#refuse(token);
    const write = this.audit.begin({ owner: record.owner, token, gone });
    const latency = LATENCY.least + this.#random() * LATENCY.more;
    await this.#clock.sleep(latency, { label: "provider writes" });
    const answer = gone.aborted ? undefined : this.#commit(method, record, token);
    this.audit.end(write, answer?.status === 200);
    if (answer === undefined) throw new BrokenConnection();
    if (answer.status === 412) return this.#refuse(token);
    return answer.status === 200 ? undefined : text(answer.status, answer.reason ?? "");
  }

  #refuse(token: number): ProviderAnswer {
    this.#refused += 1;
    return text(412, `token ${token} is older than ${this.#newestToken}`);
  }

  #commit(method: "PUT" | "DELETE", record: Remote, token: number): WriteAnswer {
    if (token < this.#newestToken) return { status: 412 };
    return method === "PUT" ? this.records.put(record) : this.records.delete(record);
  }
}

interface Sent {
  readonly token: number;
  readonly gone: AbortSignal;
}

/** The answers of faults that answer at once. */
const ANSWERS: Readonly<Partial<Record<ProviderFault, ProviderAnswer>>> = {
  outage: text(503, "out of order"),
  throttle: { ...text(429, "too many requests"), retryAfter: 1 },
  html: { status: 200, type: "text/html", body: "<h1>Welcome</h1>" },
};

/** The sender of a held write may be gone, and the write arrives all the same. */
const NEVER = new AbortController().signal;

function text(status: number, body: string): ProviderAnswer {
  return { status, type: "text/plain", body };
}

/** Rejects when a signal aborts. */
async function aborted(signal: AbortSignal): Promise<never> {
  return await new Promise((_, reject) => {
    onAbort(signal, () => reject(new BrokenConnection()));
  });
}
