import type { MetricSink } from "@holdfast/kit";
import type { InformerStatus } from "../cluster/cluster-status.ts";

/** Gauges of informers, read at each scrape. Informers of one resource are added up. */
export class InformerGauges {
  #read: () => readonly InformerStatus[] = () => [];

  constructor(sink: MetricSink) {
    const labelNames = ["resource"] as const;
    /** A sample of each resource, without those of which nothing is known. */
    const each = (measure: (informers: readonly InformerStatus[]) => number | undefined) =>
      [...groupByResource(this.#read())].flatMap(([resource, informers]) => {
        const value = measure(informers);
        return value === undefined ? [] : [[{ resource }, value] as const];
      });
    sink.gauge({
      labelNames,
      name: "informer_objects",
      help: "Number of objects in the cache now, by resource",
      read: () => each((informers) => sum(informers.map(({ size }) => size))),
    });
    sink.gauge({
      labelNames,
      name: "informer_synced",
      help: "Whether the first list of every informer is complete: 1 or 0, by resource",
      read: () => each((informers) => Number(informers.every(({ hasSynced }) => hasSynced))),
    });
    sink.gauge({
      labelNames,
      name: "informer_age_seconds",
      help: "Seconds since the last event or bookmark of a watch of the resource, or its last complete list; a bookmark arrives about once a minute. Absent before the first list",
      read: () => each(ageOf),
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

/** Seconds since the quietest watch has heard something. Undefined if one never has. */
function ageOf(informers: readonly InformerStatus[]): number | undefined {
  const ages = informers.flatMap(({ reflectors }) => reflectors.map(({ silentFor }) => silentFor));
  return ages.includes(undefined) ? undefined : Math.max(...(ages as number[])) / 1_000;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
