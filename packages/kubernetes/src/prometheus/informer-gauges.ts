import { Gauge, type Registry } from "prom-client";
import type { InformerStatus } from "../cluster/cluster-status.ts";

/** Gauges of informers, read at each scrape. Informers of one resource are added up. */
export class InformerGauges {
  #read: () => readonly InformerStatus[] = () => [];

  constructor(register: Registry) {
    const common = { labelNames: ["resource"] as const, registers: [register] };
    const byResource = (): Map<string, InformerStatus[]> => groupByResource(this.#read());
    new Gauge({
      ...common,
      name: "informer_objects",
      help: "Number of objects in the cache now, by resource",
      collect() {
        this.reset();
        for (const [resource, informers] of byResource())
          this.set({ resource }, sum(informers.map(({ size }) => size)));
      },
    });
    new Gauge({
      ...common,
      name: "informer_synced",
      help: "Whether the first list of every informer is complete: 1 or 0, by resource",
      collect() {
        this.reset();
        for (const [resource, informers] of byResource())
          this.set({ resource }, informers.every(({ hasSynced }) => hasSynced) ? 1 : 0);
      },
    });
    new Gauge({
      ...common,
      name: "informer_age_seconds",
      help: "Seconds since the last event or bookmark of a watch of the resource, or its last complete list; a bookmark arrives about once a minute. Absent before the first list",
      collect() {
        this.reset();
        for (const [resource, informers] of byResource()) {
          const age = ageOf(informers);
          if (age !== undefined) this.set({ resource }, age / 1_000);
        }
      },
    });
  }

  /** Reads these informers from now on. */
  watch(read: () => readonly InformerStatus[]): void {
    this.#read = read;
  }
}

function groupByResource(informers: readonly InformerStatus[]): Map<string, InformerStatus[]> {
  const groups = new Map<string, InformerStatus[]>();
  for (const informer of informers) {
    const group = groups.get(informer.resource);
    if (group === undefined) groups.set(informer.resource, [informer]);
    else group.push(informer);
  }
  return groups;
}

/** Milliseconds since the quietest watch has heard something. Undefined if one never has. */
function ageOf(informers: readonly InformerStatus[]): number | undefined {
  const ages = informers.flatMap(({ reflectors }) => reflectors.map(({ silentFor }) => silentFor));
  return ages.includes(null) ? undefined : Math.max(...(ages as number[]));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
