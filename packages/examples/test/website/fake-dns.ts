import type { Dns } from "../../src/website/dns.ts";

/** A provider that keeps its records in memory. */
export class FakeDns implements Dns {
  /** Owners and hosts with their targets. */
  readonly records: Map<string, string> = new Map();
  isDown = false;

  put(owner: string, { host, target }: { host: string; target: string }): Promise<void> {
    return this.#write(() => this.records.set(owner, `${host} ${target}`));
  }

  delete(owner: string): Promise<void> {
    return this.#write(() => this.records.delete(owner));
  }

  async #write(write: () => unknown): Promise<void> {
    if (this.isDown) throw new Error("the provider is down");
    write();
  }
}
