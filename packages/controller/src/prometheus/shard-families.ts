import { Counter, Gauge, type Registry } from "prom-client";

/** Slots of a process, such as `Shards`. */
export interface ShardedProcess {
  /** State of its slots now. */
  status(): {
    readonly held: readonly number[];
    readonly giving: readonly number[];
    readonly wanted: number | undefined;
    readonly free: readonly number[];
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
