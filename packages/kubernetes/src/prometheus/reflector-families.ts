import { Counter, Histogram, type Registry } from "prom-client";

/** Lists and watches that end well take from milliseconds to 10 minutes. */
const SECONDS = [0.01, 0.1, 1, 5, 10, 30, 60, 120, 300, 600];

/** Objects of a list, events of a watch. */
const COUNTS = [1, 10, 100, 1_000, 10_000, 100_000];

/** A watch below this is short, in milliseconds, as in client-go. */
const SHORT = 1_000;

type Label = "name";

/** The metrics of the lists and watches of a registry. The label `name` is the resource. */
export class ReflectorFamilies {
  readonly #lists: Counter<Label>;
  readonly #listDuration: Histogram<Label>;
  readonly #itemsPerList: Histogram<Label>;
  readonly #watches: Counter<Label>;
  readonly #shortWatches: Counter<Label>;
  readonly #watchDuration: Histogram<Label>;
  readonly #itemsPerWatch: Histogram<Label>;
  readonly #rejected: Counter<Label>;

  constructor(register: Registry) {
    const common = { labelNames: ["name"] as const, registers: [register] };
    this.#lists = new Counter({
      ...common,
      name: "reflector_lists_total",
      help: "Number of lists that have ended, by resource",
    });
    this.#listDuration = new Histogram({
      ...common,
      buckets: SECONDS,
      name: "reflector_list_duration_seconds",
      help: "Seconds that a list took, by resource",
    });
    this.#itemsPerList = new Histogram({
      ...common,
      buckets: COUNTS,
      name: "reflector_items_per_list",
      help: "Number of objects in a list, by resource",
    });
    this.#watches = new Counter({
      ...common,
      name: "reflector_watches_total",
      help: "Number of watches that have ended, by resource",
    });
    this.#shortWatches = new Counter({
      ...common,
      name: "reflector_short_watches_total",
      help: "Number of watches that have ended within a second without an event, by resource",
    });
    this.#watchDuration = new Histogram({
      ...common,
      buckets: SECONDS,
      name: "reflector_watch_duration_seconds",
      help: "Seconds that a watch lasted, by resource",
    });
    this.#itemsPerWatch = new Histogram({
      ...common,
      buckets: COUNTS,
      name: "reflector_items_per_watch",
      help: "Number of events of a watch, by resource",
    });
    this.#rejected = new Counter({
      ...common,
      name: "reflector_rejected_objects_total",
      help: "Number of objects for which transform or an index function threw, by resource",
    });
  }

  listed(name: string, duration: number, items: number): void {
    this.#lists.inc({ name });
    this.#listDuration.observe({ name }, duration / 1_000);
    this.#itemsPerList.observe({ name }, items);
  }

  watchEnded(name: string, duration: number, events: number): void {
    this.#watches.inc({ name });
    if (duration < SHORT && events === 0) this.#shortWatches.inc({ name });
    this.#watchDuration.observe({ name }, duration / 1_000);
    this.#itemsPerWatch.observe({ name }, events);
  }

  rejected(name: string): void {
    this.#rejected.inc({ name });
  }
}
