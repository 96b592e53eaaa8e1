import { PrometheusMetrics } from "@holdfast/controller/prometheus";
import { type Kinds, methods, read } from "@holdfast/kit";
import { prometheusSink } from "@holdfast/kit/prometheus";
import { register as globalRegister, type Registry } from "prom-client";
import { operatorMetricsOn } from "../metrics/operator-metrics-on.ts";
import type { OperatorMetrics } from "../operator/operator-metrics.ts";

export const OPERATOR_PROMETHEUS_OPTIONS: Kinds<OperatorPrometheusOptions> = {
  register: methods("registerMetric", "metrics"),
  controllers: methods("controller", "queue", "leadership", "shards"),
};

/** Options for {@link prometheusMetrics}. */
export interface OperatorPrometheusOptions {
  /**
   * The registry that is scraped.
   *
   * @defaultValue `register` of prom-client
   */
  readonly register?: Registry | undefined;

  /**
   * The metrics of controllers in the same registry, if there are some already.
   *
   * @defaultValue new ones
   */
  readonly controllers?: PrometheusMetrics | undefined;
}

/**
 * The metrics of an operator in a registry of prom-client, with the names and units of client-go and
 * controller-runtime, so that the dashboards made for those work: the option `metrics` of `runOperator`, of a
 * `Cluster` and of a `KubeClient`.
 *
 * Make one for a registry; prom-client refuses a second.
 *
 * | Metric | Labels | |
 * | --- | --- | --- |
 * | `rest_client_requests_total` | `code`, `method` | requests, `<error>` for one without a response |
 * | `rest_client_request_duration_seconds` | `verb` | to the head of the response; `verb` is the method |
 * | `client_skipped_applies_total` | `name` | applies that were not sent, since they would have changed nothing |
 * | `reflector_lists_total`, `reflector_list_duration_seconds`, `reflector_items_per_list` | `name` | lists that have ended |
 * | `reflector_watches_total`, `reflector_watch_duration_seconds`, `reflector_items_per_watch` | `name` | watches that have ended |
 * | `reflector_rejected_objects_total` | `name` | objects for which `transform` or an index function threw |
 * | `reflector_short_watches_total` | `name` | of these, within a second and without an event |
 * | `informer_objects` | `resource` | objects in the cache |
 * | `informer_synced` | `resource` | 1 if the first list is complete |
 * | `informer_age_seconds` | `resource` | since the last event, bookmark or complete list; no sample before the first list |
 * | `controller_runtime_webhook_requests_total`, `controller_runtime_webhook_latency_seconds`, `controller_runtime_webhook_requests_in_flight` | `webhook`, `code` | calls of webhooks, by path; only with webhooks, as the next three |
 * | `webhook_conversions_total` | `version`, `result` | objects in reviews of conversions |
 * | `webhook_certificate_expiry_seconds` | | end of the certificate, in seconds since 1970 |
 * | `webhook_bundle_writes_total` | | writes of the authorities into configurations |
 * | all of `PrometheusMetrics` of `@holdfast/controller` | | queues, controllers, `leader_election_master_status`, `shards_slots` |
 *
 * `name` and `resource` are plurals with their group, for example `deployments.apps`. Names of objects and
 * namespaces are never labels. Pass `metrics.controller(name)` and `metrics.queue(name)` to each controller.
 *
 * @param options - see {@link OperatorPrometheusOptions}
 * @returns the receiver of the metrics
 * @throws TypeError for a bad option, Error if the registry has metrics of these names
 *
 * Source: k8s.io/client-go/tools/metrics, and the reflector's metrics of k8s.io/client-go/tools/cache.
 *
 * @example
 * ```ts
 * import { prometheusMetrics } from "@holdfast/kubernetes/prometheus";
 * import { Registry } from "prom-client";
 *
 * const register = new Registry();
 * const metrics = prometheusMetrics({ register });
 * metrics.requested({ method: "GET", code: "200", duration: 12 });
 * console.log(await register.getSingleMetricAsString("rest_client_requests_total"));
 * // => # HELP rest_client_requests_total Number of requests to the API server, by status code and method
 * // => # TYPE rest_client_requests_total counter
 * // => rest_client_requests_total{code="200",method="GET"} 1
 * ```
 */
export function prometheusMetrics(options: OperatorPrometheusOptions = {}): OperatorMetrics {
  const given = read("options", options, "prometheusMetrics", OPERATOR_PROMETHEUS_OPTIONS);
  const { register = globalRegister } = given;
  const { controllers = new PrometheusMetrics({ register }) } = given;
  return operatorMetricsOn(prometheusSink(register), controllers);
}
