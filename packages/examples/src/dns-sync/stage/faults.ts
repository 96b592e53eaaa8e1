import { poll, type Random, withTimeout } from "@holdfast/wait";
import type { ProviderFault } from "../provider/provider-faults.ts";
import type { Replica } from "./replica/replica.ts";
import type { Stage } from "./stage.ts";

/** How long the stage waits for a leader, in milliseconds: long, because a busy machine is no fault. */
const PATIENCE = 600_000;

export interface FaultsOptions {
  /** Ends all faults. */
  readonly signal: AbortSignal;
  /** Beginning of the name of a replica that must live on: it stands still where others are killed. */
  readonly spared?: string | undefined;
}

/** What the stage does to itself. Each resolves when the fault is over, not when all is well again. */
export class Faults {
  readonly #stage: Stage;
  readonly #options: FaultsOptions;
  readonly #random: Random;
  #count = 0;
  /** Faults of leaders come one after the other: nothing is learned from a kill while nobody leads. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(stage: Stage, options: FaultsOptions) {
    this.#stage = stage;
    this.#options = options;
    this.#random = stage.random;
  }

  /** Faults so far. */
  get count(): number {
    return this.#count;
  }

  /** Aborts when there are to be no more faults. */
  get signal(): AbortSignal {
    return this.#options.signal;
  }

  /** SIGKILL for the leader. */
  async killLeader(): Promise<string> {
    return await this.#inTurn(async () => {
      const leader = await this.#leader();
      if (this.#isSpared(leader)) return await this.#overtake(leader);
      this.#log(leader.name, "leads, and is killed with SIGKILL");
      leader.kill();
      await this.#successorOf(leader);
      return leader.name;
    });
  }

  /** SIGTERM for the leader. */
  async handOver(): Promise<string> {
    return await this.#inTurn(async () => {
      const leader = await this.#leader();
      if (this.#isSpared(leader)) return await this.#overtake(leader);
      this.#log(leader.name, "leads, and is told to stop with SIGTERM");
      leader.stop();
      await leader.exited;
      await this.#successorOf(leader);
      return leader.name;
    });
  }

  /**
   * A write of the leader is late on its way. Meanwhile its process stands still, and another one leads; then the
   * write arrives.
   */
  async staleWrite(): Promise<number> {
    return await this.#inTurn(async () => {
      const { provider, crew, population } = this.#stage;
      const leader = await this.#leader();
      const held = provider.holdNextWrite();
      const editing = population.edit(10);
      try {
        const token = await this.#within(() => held.token);
        const sender = crew.replicas.find(({ report }) => report?.token === token) ?? leader;
        this.#log(sender.name, `stands still, while a write with token ${token} is on its way`);
        sender.pause();
        await this.#until(() => provider.newestToken > token);
        const status = await held.arrive();
        this.#log("provider", `answers ${status} to the late write with token ${token}`);
        sender.resume();
        return status;
      } finally {
        provider.holdNone();
        for (const replica of crew.replicas) replica.resume();
        await editing;
      }
    });
  }

  /** The API server is away, and has lost its history when it is back. */
  async stopApi(duration: number): Promise<void> {
    await this.#inTurn(async () => {
      const { api, clock } = this.#stage;
      const { signal } = this;
      this.#log("API", "is gone");
      await api.control?.stop();
      try {
        await clock.sleep(duration, { signal, label: "API away" });
      } finally {
        await api.control?.start();
        this.#log("API", `is back after ${(duration / 1_000).toFixed(1)} s, without its history`);
      }
    });
  }

  /** The API server forgets its history. */
  async compact(): Promise<void> {
    await this.#inTurn(async () => {
      this.#log("API", "forgets its history, and breaks all watches");
      await this.#stage.api.control?.compact();
    });
  }

  /** A share of the requests to the provider meets a fault. */
  async provider(fault: ProviderFault, duration: number, share = 1): Promise<void> {
    await this.#counted(async () => {
      const { provider, clock } = this.#stage;
      const { signal } = this;
      const part = share === 1 ? "" : ` for ${Math.round(share * 100)} % of requests`;
      this.#log("provider", `${fault}${part}, ${(duration / 1_000).toFixed(1)} s`);
      using _ = provider.faults.begin(fault, share);
      await clock.sleep(duration, { signal, label: "provider fault" });
    });
  }

  /** Somebody edits records. */
  async edit(count: number): Promise<void> {
    await this.#counted(async () => {
      this.#log("records", `${count.toLocaleString("en")} edits`);
      await this.#stage.population.edit(count);
    });
  }

  /** Somebody renames, deletes and creates records, and changes a zone. */
  async rearrange(count: number): Promise<void> {
    await this.#counted(async () => {
      const { population } = this.#stage;
      this.#log("records", `${count} renamed, ${count} deleted and created again, a zone changed`);
      await population.rename(count);
      await population.turnZone();
      await population.replace(count);
    });
  }

  /** Somebody changes records at the provider. Resolves with their number. */
  async drift(count: number): Promise<number> {
    return await this.#counted(async () => {
      const { records } = this.#stage.provider;
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
      this.#log("provider", `somebody changes ${chosen.length} records there`);
      return chosen.length;
    });
  }

  #isSpared({ name }: Replica): boolean {
    const { spared } = this.#options;
    return spared !== undefined && name.startsWith(spared);
  }

  async #overtake(leader: Replica): Promise<string> {
    this.#log(leader.name, "leads, and stands still until another one leads");
    leader.pause();
    try {
      await this.#successorOf(leader);
    } finally {
      leader.resume();
    }
    return leader.name;
  }

  async #inTurn<Value>(fault: () => Promise<Value>): Promise<Value> {
    return await this.#stage.busy(async () => {
      const turn = this.#turn.then(async () => await this.#counted(fault));
      this.#turn = turn.catch(() => undefined);
      return await turn;
    });
  }

  async #counted<Value>(fault: () => Promise<Value>): Promise<Value> {
    this.signal.throwIfAborted();
    this.#count += 1;
    return await this.#stage.busy(fault);
  }

  async #leader(): Promise<Replica> {
    const { crew, clock } = this.#stage;
    const { signal } = this;
    const options = { backoff: { duration: 50 }, timeout: PATIENCE, clock, signal };
    return await poll(() => crew.leader, options);
  }

  async #successorOf(leader: Replica): Promise<void> {
    const { crew } = this.#stage;
    await this.#until(() => crew.leader !== undefined && crew.leader !== leader);
  }

  async #until(condition: () => boolean): Promise<void> {
    const { clock } = this.#stage;
    const { signal } = this;
    await poll(condition, { backoff: { duration: 50 }, timeout: PATIENCE, clock, signal });
  }

  async #within<Value>(work: () => Promise<Value>): Promise<Value> {
    const { clock } = this.#stage;
    const { signal } = this;
    return await withTimeout(work, PATIENCE, { clock, signal, label: "fault" });
  }

  #log(name: string, text: string): void {
    this.#stage.chronicle.log(name, text);
  }
}
