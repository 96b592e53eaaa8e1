import type { Counted, Measured, MetricSink } from "@holdfast/kit";
import type { RequestMetric } from "../kubernetes-metrics.ts";

/** From 5 ms to a minute, as client-go has them. */
const BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** The metrics of all requests of a registry. */
export class RequestFamilies {
  readonly #total: Counted<"code" | "method">;
  readonly #duration: Measured<"verb">;
  readonly #skipped: Counted<"name">;
  readonly #migrated: Counted<"name" | "result">;

  constructor(sink: MetricSink) {
    this.#total = sink.counter({
      labelNames: ["code", "method"],
      name: "rest_client_requests_total",
      help: "Number of requests to the API server, by status code and method",
    });
    this.#duration = sink.histogram({
      labelNames: ["verb"],
      buckets: BUCKETS,
      name: "rest_client_request_duration_seconds",
      help: "Seconds from a request to the head of its response, by method",
    });
    this.#skipped = sink.counter({
      labelNames: ["name"],
      name: "client_skipped_applies_total",
      help: "Number of applies that were not sent because they would have changed nothing, by resource",
    });
    this.#migrated = sink.counter({
      labelNames: ["name", "result"],
      name: "storage_migration_objects_total",
      help: "Number of objects that a migration of the stored version has patched, by resource and result",
    });
  }

  migrate(name: string, result: string): void {
    this.#migrated.add({ name, result });
  }

  count({ method, code, duration }: RequestMetric): void {
    this.#total.add({ code, method });
    this.#duration.record({ verb: method }, duration / 1_000);
  }

  skip(name: string): void {
    this.#skipped.add({ name });
  }
}
