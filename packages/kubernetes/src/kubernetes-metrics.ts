/** A request of a client or an informer, when it has ended. */
export interface RequestMetric {
  /** HTTP method. */
  readonly method: string;

  /** HTTP status code, or `"<error>"` for a request without a response, as in client-go. */
  readonly code: string;

  /** Milliseconds from the request to the head of the response, or to the error. */
  readonly duration: number;
}

/**
 * Receiver of the facts that a client and its informers measure, one call per fact. A method must not block;
 * its errors are logged. `resource` is the plural with its group, for example `deployments.apps`.
 *
 * | Method | Name in client-go |
 * | --- | --- |
 * | `requested` | `rest_client_requests_total`, `rest_client_request_duration_seconds` |
 * | `listed` | `reflector_lists_total`, `reflector_list_duration_seconds`, `reflector_items_per_list` |
 * | `watchEnded` | `reflector_watches_total`, `reflector_short_watches_total`, `reflector_watch_duration_seconds` |
 */
export interface KubernetesMetrics {
  /** A request has ended. */
  requested(request: RequestMetric): void;

  /** A list of a resource has ended after `duration` milliseconds with `items` objects. */
  listed(resource: string, duration: number, items: number): void;

  /** A watch of a resource has ended after `duration` milliseconds and `events` events. */
  watchEnded(resource: string, duration: number, events: number): void;

  /** `transform` or an index function has thrown for an object of a resource. */
  rejected(resource: string): void;

  /** An apply with the option `cached` was not sent, since it would have changed nothing. */
  applySkipped(resource: string): void;

  /** A `migrateStorage` has sent the patch of an object, which is now in the stored version or not. Receivers may lack it. */
  migrated?(resource: string, result: "migrated" | "failed"): void;
}

/** The methods of {@link KubernetesMetrics}. */
export const KUBERNETES_METRICS: readonly (keyof KubernetesMetrics)[] = [
  "requested",
  "listed",
  "watchEnded",
  "rejected",
  "applySkipped",
];
