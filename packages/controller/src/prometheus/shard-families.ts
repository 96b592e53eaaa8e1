import { Counter, Gauge, type Registry } from "prom-client";

/** Slots of a process, such as `Shards`. */
export interface ShardedProcess {
  /** State of its slots now. */
  status(): {
    /** Slots that this process holds. */
    readonly held: readonly number[];
    /** Those of them that another process has asked for. */
    readonly giving: readonly number[];
    /** The slot that this process has asked another one for. */
    readonly wanted: number | undefined;
    /** Slots without a holder, as last seen. */
    readonly free: readonly number[];
    /** Number of slots that this process has taken so far. */
    readonly taken: number;
  };
}

/** Slots of all processes in a registry. */
export class ShardFamilies {
  readonly #shards = new Map<string, ShardedProcess>();

  constructor(register: Registry) {
    const shards = this.#shards;
    const registers = [register];
    new Gauge({
      registers,
      labelNames: ["name", "state"],
      name: "shards_slots",
      help: "Slots by state: held by this process, of these giving, wanted from another process, free as last seen",
      collect() {
        for (const [name, one] of shards) {
          const { held, giving, wanted, free } = one.status();
          this.set({ name, state: "held" }, held.length);
          this.set({ name, state: "giving" }, giving.length);
          this.set({ name, state: "wanted" }, wanted === undefined ? 0 : 1);
          this.set({ name, state: "free" }, free.length);
        }
      },
    });
    new Counter({
      registers,
      labelNames: ["name"],
      name: "shards_taken_total",
      help: "Slots that this process has taken",
      collect() {
        this.reset();
        for (const [name, one] of shards) this.inc({ name }, one.status().taken);
      },
    });
  }

  watch(name: string, shards: ShardedProcess): void {
    this.#shards.set(name, shards);
  }
}
