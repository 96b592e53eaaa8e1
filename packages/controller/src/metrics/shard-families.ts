import type { MetricSink } from "@holdfast/kit";

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

/** Slots of all processes. */
export class ShardFamilies {
  readonly #shards = new Map<string, ShardedProcess>();

  constructor(sink: MetricSink) {
    sink.gauge({
      labelNames: ["name", "state"],
      name: "shards_slots",
      help: "Slots by state: held by this process, of these giving, wanted from another process, free as last seen",
      read: () =>
        [...this.#shards].flatMap(([name, shards]) => {
          const { held, giving, wanted, free } = shards.status();
          return [
            [{ name, state: "held" }, held.length] as const,
            [{ name, state: "giving" }, giving.length] as const,
            [{ name, state: "wanted" }, wanted === undefined ? 0 : 1] as const,
            [{ name, state: "free" }, free.length] as const,
          ];
        }),
    });
    sink.total({
      labelNames: ["name"],
      name: "shards_taken_total",
      help: "Slots that this process has taken",
      read: () =>
        [...this.#shards].map(([name, shards]) => [{ name }, shards.status().taken] as const),
    });
  }

  watch(name: string, shards: ShardedProcess): void {
    this.#shards.set(name, shards);
  }
}
