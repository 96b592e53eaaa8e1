import type { Counted, Measured, MetricSink } from "@holdfast/kit";

/** Lists and watches that end well take from milliseconds to 10 minutes. */
const SECONDS = [0.01, 0.1, 1, 5, 10, 30, 60, 120, 300, 600];

/** Objects of a list, events of a watch. */
const COUNTS = [1, 10, 100, 1_000, 10_000, 100_000];

/** A watch below this is short, in milliseconds, as in client-go. */
const SHORT = 1_000;

type Label = "name";

/** The metrics of the lists and watches of a registry. The label `name` is the resource. */
export class ReflectorFamilies {
  readonly #lists: Counted<Label>;
  readonly #listDuration: Measured<Label>;
  readonly #itemsPerList: Measured<Label>;
  readonly #watches: Counted<Label>;
  readonly #shortWatches: Counted<Label>;
  readonly #watchDuration: Measured<Label>;
  readonly #itemsPerWatch: Measured<Label>;
  readonly #rejected: Counted<Label>;

  constructor(sink: MetricSink) {
    const labelNames = ["name"] as const;
    this.#lists = sink.counter({
      labelNames,
      name: "reflector_lists_total",
      help: "Number of lists that have ended, by resource",
    });
    this.#listDuration = sink.histogram({
      labelNames,
      buckets: SECONDS,
      name: "reflector_list_duration_seconds",
      help: "Seconds that a list took, by resource",
    });
    this.#itemsPerList = sink.histogram({
      labelNames,
      buckets: COUNTS,
      name: "reflector_items_per_list",
      help: "Number of objects in a list, by resource",
    });
    this.#watches = sink.counter({
      labelNames,
      name: "reflector_watches_total",
      help: "Number of watches that have ended, by resource",
    });
    this.#shortWatches = sink.counter({
      labelNames,
      name: "reflector_short_watches_total",
      help: "Number of watches that have ended within a second without an event, by resource",
    });
    this.#watchDuration = sink.histogram({
      labelNames,
      buckets: SECONDS,
      name: "reflector_watch_duration_seconds",
      help: "Seconds that a watch lasted, by resource",
    });
    this.#itemsPerWatch = sink.histogram({
      labelNames,
      buckets: COUNTS,
      name: "reflector_items_per_watch",
      help: "Number of events of a watch, by resource",
    });
    this.#rejected = sink.counter({
      labelNames,
      name: "reflector_rejected_objects_total",
      help: "Number of objects for which transform or an index function threw, by resource",
    });
  }

  listed(name: string, duration: number, items: number): void {
    this.#lists.add({ name });
    this.#listDuration.record({ name }, duration / 1_000);
    this.#itemsPerList.record({ name }, items);
  }

  watchEnded(name: string, duration: number, events: number): void {
    this.#watches.add({ name });
    if (duration < SHORT && events === 0) this.#shortWatches.add({ name });
    this.#watchDuration.record({ name }, duration / 1_000);
    this.#itemsPerWatch.record({ name }, events);
  }

  rejected(name: string): void {
    this.#rejected.add({ name });
  }
}
