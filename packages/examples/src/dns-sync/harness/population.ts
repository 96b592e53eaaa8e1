import type { Clock } from "@holdfast/clock";
import { isApiError, type KubeClient } from "@holdfast/kubernetes";
import { poll, type Random, retry } from "@holdfast/wait";
import { DnsRecord, DnsZone, type Item } from "../operator/resources.ts";

export interface PopulationOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: Random;
}

const LABELS = { app: "dns-sync-demo" };
const ZONES = { web: "example.org", mail: "example.net", idle: "example.com" };

/** Seconds. The operator checks for drift after 50 % to 60 % of it. */
const TTL = 10;

/** Maximum number of concurrent writes. */
const CONCURRENCY = 16;

/** Retries of writes while the API server is down, in milliseconds. */
const TIME_LIMIT = { backoff: { duration: 100, cap: 1_000, jitter: 0.2 }, maxElapsed: 600_000 };
const POLLING = { backoff: { duration: 200 }, timeout: 600_000, onError: () => undefined };

/** The zones and records of the harness, and edits of them. */
export class Population {
  readonly #options: PopulationOptions;
  readonly #signal: AbortSignal;
  #names: readonly string[] = [];
  #edits = 0;

  /** @param signal - aborts all writes */
  constructor(options: PopulationOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  get edits(): number {
    return this.#edits;
  }

  /** Creates zones, `count` records, and five more. Three are invalid, two share a name: four never sync. */
  async create(count: number): Promise<void> {
    for (const [name, domain] of Object.entries(ZONES)) await this.#putZone(name, domain, TTL);
    this.#names = Array.from({ length: count }, (_, index) => `r${index}`);
    await this.#forEach(this.#names, (name) => this.#put(name));
    await this.#put("bad-host", { host: "bad host!" });
    await this.#put("bad-value", { value: "999.0.2.1" });
    await this.#put("no-zone", { zone: "nowhere" });
    await this.#put("twin-1", { host: "twin" });
    await this.#put("twin-2", { host: "twin" });
  }

  /** Gives random records new values. */
  async edit(count: number): Promise<void> {
    const names = Array.from({ length: count }, () => this.#randomName());
    await this.#forEach(names, async (name) => {
      const patch = { spec: { value: this.#randomAddress() } };
      await this.#write((client, options) =>
        client.patch(DnsRecord, this.#nameOf(name), patch, options),
      );
      this.#edits += 1;
    });
  }

  /** Gives random records new hosts. */
  async rename(count: number): Promise<void> {
    const names = Array.from({ length: count }, () => this.#randomName());
    await this.#forEach(names, async (name) => {
      const patch = { spec: { host: `${name}-${Math.floor(this.#options.random() * 1_000)}` } };
      await this.#write((client, options) =>
        client.patch(DnsRecord, this.#nameOf(name), patch, options),
      );
      this.#edits += 1;
    });
  }

  /** Deletes random records, and recreates each after its deletion. */
  async replace(count: number): Promise<void> {
    const names = new Set(Array.from({ length: count }, () => this.#randomName()));
    await this.#forEach([...names], async (name) => {
      await this.#delete(name);
      await this.#put(name);
    });
  }

  /** Changes the ttl of a zone and thereby of its records. */
  async turnZone(): Promise<void> {
    const ttl = TTL + Math.floor(this.#options.random() * TTL);
    await this.#putZone("mail", ZONES.mail, ttl);
  }

  /** Writes a zone without records, so that a new leader's caches reach their barrier at once. */
  async touch(): Promise<void> {
    const { clock, client } = this.#options;
    const metadata = { annotations: { touched: `${clock.now()}` } };
    await client.patch(DnsZone, this.#nameOf("idle"), { metadata }, { signal: this.#signal });
  }

  /** Deletes all records and zones, and waits until they are gone. */
  async remove(): Promise<void> {
    const others = ["bad-host", "bad-value", "no-zone", "twin-1", "twin-2"];
    await this.#forEach([...this.#names, ...others], (name) => this.#delete(name));
    for (const name of Object.keys(ZONES))
      await this.#write((client, options) => client.delete(DnsZone, this.#nameOf(name), options));
  }

  async #delete(name: string): Promise<void> {
    const { client, clock } = this.#options;
    const signal = this.#signal;
    await this.#write((_, options) => client.delete(DnsRecord, this.#nameOf(name), options));
    const isGone = async (): Promise<boolean> =>
      (await client.find(DnsRecord, this.#nameOf(name), { signal })) === undefined;
    await poll(isGone, { ...POLLING, clock, signal });
  }

  async #put(name: string, spec: Partial<Item["spec"]> = {}): Promise<void> {
    const zone = this.#options.random() < 0.5 ? "web" : "mail";
    const value = this.#randomAddress();
    const record = {
      metadata: { ...this.#nameOf(name), labels: LABELS },
      spec: { zone: spec.host === "twin" ? "web" : zone, host: name, type: "A", value, ...spec },
    };
    await this.#write((client, options) => client.apply(DnsRecord, record, options));
  }

  async #putZone(name: string, domain: string, ttl: number): Promise<void> {
    const zone = { metadata: { ...this.#nameOf(name), labels: LABELS }, spec: { domain, ttl } };
    await this.#write((client, options) => client.apply(DnsZone, zone, options));
  }

  /** Retries until the server accepts the write. A missing object ends it without an error. */
  async #write(
    send: (client: KubeClient, options: { signal: AbortSignal }) => Promise<unknown>,
  ): Promise<void> {
    const { client, clock } = this.#options;
    try {
      await retry(({ signal }) => send(client, { signal }), {
        ...{ ...TIME_LIMIT, clock, signal: this.#signal },
        shouldRetry: ({ error }) => !isApiError(error, "NotFound"),
      });
    } catch (error) {
      if (!isApiError(error, "NotFound")) throw error;
    }
  }

  async #forEach(names: readonly string[], work: (name: string) => Promise<void>): Promise<void> {
    const left = names.values();
    const worker = async (): Promise<void> => {
      for (const name of left) {
        await work(name);
        // The fake API server responds without a turn of the event loop; the sleep lets other work run.
        await this.#options.clock.sleep(1, { signal: this.#signal, label: "next write" });
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  }

  #nameOf(name: string): { namespace: string; name: string } {
    return { namespace: this.#options.namespace, name };
  }

  #randomName(): string {
    return this.#names[Math.floor(this.#options.random() * this.#names.length)] ?? "";
  }

  #randomAddress(): string {
    const part = (): number => Math.floor(this.#options.random() * 256);
    return `10.${part()}.${part()}.${part()}`;
  }
}
