import type { MetricSink } from "@holdfast/kit";
import type { OperatorMetrics } from "../operator/operator-metrics.ts";
import { InformerGauges } from "./informer-gauges.ts";
import { ReflectorFamilies } from "./reflector-families.ts";
import { RequestFamilies } from "./request-families.ts";
import { WebhookFamilies } from "./webhook-families.ts";

/** All metrics of an operator, those of its controllers among them. */
export function operatorMetricsOn(
  sink: MetricSink,
  controllers: Pick<OperatorMetrics, "controller" | "queue" | "leadership" | "shards">,
): OperatorMetrics {
  const requests = new RequestFamilies(sink);
  const reflectors = new ReflectorFamilies(sink);
  const informers = new InformerGauges(sink);
  return {
    requested: (request) => requests.count(request),
    listed: (...facts) => reflectors.listed(...facts),
    watchEnded: (...facts) => reflectors.watchEnded(...facts),
    rejected: (resource) => reflectors.rejected(resource),
    applySkipped: (resource) => requests.skip(resource),
    migrated: (...facts) => requests.migrate(...facts),
    controller: (name) => controllers.controller(name),
    queue: (name) => controllers.queue(name),
    leadership: (...candidate) => controllers.leadership(...candidate),
    shards: (...held) => controllers.shards(...held),
    informers: (read) => informers.watch(read),
    webhooks: (read) => new WebhookFamilies(sink, read),
  };
}
