import { poll, type Random, withTimeout } from "@holdfast/wait";
import type { ProviderFault } from "../provider/provider-faults.ts";
import type { Harness } from "./harness.ts";
import type { Replica } from "./replica/replica.ts";

/** Maximum wait for a leader in milliseconds. Long, so that a busy machine is not a failure. */
const TIME_LIMIT = 600_000;

export interface FaultsOptions {
  /** Aborts all faults in progress and prevents new ones. */
  readonly signal: AbortSignal;
  /** Name prefix of a replica that is paused instead of killed or stopped. */
  readonly spared?: string | undefined;
}

/** Faults inflicted on the harness. Each resolves at the end of its fault; the operator may still be recovering. */
export class Faults {
  readonly #harness: Harness;
  readonly #options: FaultsOptions;
  readonly #random: Random;
  #count = 0;
  /** Runs faults of the leader and the API server one at a time: a kill without a leader tests nothing. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(harness: Harness, options: FaultsOptions) {
    this.#harness = harness;
    this.#options = options;
    this.#random = harness.random;
  }

  /** Number of faults so far. */
  get count(): number {
    return this.#count;
  }

  /** Aborts at the end of the faults. */
  get signal(): AbortSignal {
    return this.#options.signal;
  }

  /** Sends SIGKILL to the leader. Resolves with its name when another replica leads. */
  async killLeader(): Promise<string> {
    return await this.#inTurn(async () => {
      const leader = await this.#leader();
      if (this.#isSpared(leader)) return await this.#overtake(leader);
      this.#log(leader.name, "leader killed with SIGKILL");
      leader.kill();
      await this.#successorOf(leader);
      return leader.name;
    });
  }

  /** Sends SIGTERM to the leader. Resolves with its name when another replica leads. */
  async handOver(): Promise<string> {
    return await this.#inTurn(async () => {
      const leader = await this.#leader();
      if (this.#isSpared(leader)) return await this.#overtake(leader);
      this.#log(leader.name, "leader stopped with SIGTERM");
      leader.stop();
      await leader.exited;
      await this.#successorOf(leader);
      return leader.name;
    });
  }

  /**
   * Delays a write of the leader and pauses its process. Delivers the write after a request of the next leader.
   *
   * @returns the status of the response
   */
  async staleWrite(): Promise<number> {
    return await this.#inTurn(async () => {
      const { provider, replicas, population } = this.#harness;
      const leader = await this.#leader();
      const held = provider.holdNextWrite();
      const editing = population.edit(10);
      try {
        const token = await this.#within(() => held.token);
        const sender = replicas.all.find(({ report }) => report?.token === token) ?? leader;
        this.#log(sender.name, `paused with a write in flight, token ${token}`);
        sender.pause();
        await this.#until(() => provider.newestToken > token);
        const status = await held.arrive();
        this.#log("provider", `answered ${status} to the delayed write with token ${token}`);
        sender.resume();
        return status;
      } finally {
        provider.holdNone();
        for (const replica of replicas.all) replica.resume();
        await editing;
      }
    });
  }

  /** Stops the API server for `duration` milliseconds. It restarts without its history. Skips an existing cluster. */
  async stopApi(duration: number): Promise<void> {
    const { clock, api } = this.#harness;
    const { control } = api;
    if (control === undefined) return;
    await this.#inTurn(async () => {
      const { signal } = this;
      this.#log("API", "stopped");
      await control.stop();
      try {
        await clock.sleep(duration, { signal, label: "API away" });
      } finally {
        await control.start();
        this.#log("API", `restarted after ${(duration / 1_000).toFixed(1)} s without its history`);
      }
    });
  }

  /** Compacts the history of the API server and closes all watches. Skips an existing cluster. */
  async compact(): Promise<void> {
    const { control } = this.#harness.api;
    if (control === undefined) return;
    await this.#inTurn(async () => {
      this.#log("API", "compacted its history and closed all watches");
      await control.compact();
    });
  }

  /** Applies a fault to a share of the requests to the provider for `duration` milliseconds. */
  async provider(fault: ProviderFault, duration: number, share = 1): Promise<void> {
    await this.#counted(async () => {
      const { provider, clock } = this.#harness;
      const { signal } = this;
      const part = share === 1 ? "" : ` for ${Math.round(share * 100)} % of requests`;
      this.#log("provider", `${fault}${part}, ${(duration / 1_000).toFixed(1)} s`);
      using _ = provider.faults.begin(fault, share);
      await clock.sleep(duration, { signal, label: "provider fault" });
    });
  }

  /** Gives `count` random records new values. */
  async edit(count: number): Promise<void> {
    await this.#counted(async () => {
      this.#log("records", `${count.toLocaleString("en")} edits`);
      await this.#harness.population.edit(count);
    });
  }

  /** Renames `count` random records, changes a zone, and deletes and recreates `count` random records. */
  async rearrange(count: number): Promise<void> {
    await this.#counted(async () => {
      const { population } = this.#harness;
      this.#log("records", `${count} renamed, ${count} deleted and recreated, 1 zone changed`);
      await population.rename(count);
      await population.turnZone();
      await population.replace(count);
    });
  }

  /** Changes records at the provider, without the operator. Resolves with their number. */
  async drift(count: number): Promise<number> {
    return await this.#counted(async () => {
      const { records } = this.#harness.provider;
      const all = records.list();
      const chosen = Array.from({ length: Math.min(count, all.length) }, (_, index) => {
        const step = Math.max(1, Math.floor(all.length / count));
        return all[(index * step) % all.length];
      });
      for (const record of chosen) {
        if (record === undefined) continue;
        if (this.#random() < 0.5) records.drop(record);
        else records.overwrite({ ...record, value: "203.0.113.66" });
      }
      this.#log("provider", `${chosen.length} records changed without the operator`);
      return chosen.length;
    });
  }

  #isSpared({ name }: Replica): boolean {
    const { spared } = this.#options;
    return spared !== undefined && name.startsWith(spared);
  }

  async #overtake(leader: Replica): Promise<string> {
    this.#log(leader.name, "leader paused until another replica leads");
    leader.pause();
    try {
      await this.#successorOf(leader);
    } finally {
      leader.resume();
    }
    return leader.name;
  }

  async #inTurn<Value>(fault: () => Promise<Value>): Promise<Value> {
    return await this.#harness.busy(async () => {
      const turn = this.#turn.then(async () => await this.#counted(fault));
      this.#turn = turn.catch(() => undefined);
      return await turn;
    });
  }

  async #counted<Value>(fault: () => Promise<Value>): Promise<Value> {
    this.signal.throwIfAborted();
    this.#count += 1;
    return await this.#harness.busy(fault);
  }

  async #leader(): Promise<Replica> {
    const { replicas, clock } = this.#harness;
    const { signal } = this;
    const options = { backoff: { duration: 50 }, timeout: TIME_LIMIT, clock, signal };
    return await poll(() => replicas.leader, options);
  }

  async #successorOf(leader: Replica): Promise<void> {
    const { replicas } = this.#harness;
    await this.#until(() => replicas.leader !== undefined && replicas.leader !== leader);
  }

  async #until(condition: () => boolean): Promise<void> {
    const { clock } = this.#harness;
    const { signal } = this;
    await poll(condition, { backoff: { duration: 50 }, timeout: TIME_LIMIT, clock, signal });
  }

  async #within<Value>(work: () => Promise<Value>): Promise<Value> {
    const { clock } = this.#harness;
    const { signal } = this;
    return await withTimeout(work, TIME_LIMIT, { clock, signal, label: "fault" });
  }

  #log(name: string, text: string): void {
    this.#harness.log.add(name, text);
  }
}
