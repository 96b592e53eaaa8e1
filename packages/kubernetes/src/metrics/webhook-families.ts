import type { Counted, Measured, MetricSink } from "@holdfast/kit";
import type {
  ConversionMetric,
  WebhookCallMetric,
  WebhookMetrics,
  WebhookStatus,
} from "../webhook/webhook-metrics.ts";

/** From 1 ms to 30 s. */
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The metrics of the webhooks of a registry, by the names of controller-runtime where it has them. */
export class WebhookFamilies implements WebhookMetrics {
  readonly #requests: Counted<"webhook" | "code">;
  readonly #latency: Measured<"webhook">;
  readonly #conversions: Counted<"version" | "result">;

  constructor(sink: MetricSink, read: () => WebhookStatus) {
    this.#requests = sink.counter({
      labelNames: ["webhook", "code"],
      name: "controller_runtime_webhook_requests_total",
      help: "Number of calls of webhooks, by path and status code",
    });
    this.#latency = sink.histogram({
      labelNames: ["webhook"],
      buckets: BUCKETS,
      name: "controller_runtime_webhook_latency_seconds",
      help: "Seconds from a call of a webhook to its answer, by path",
    });
    this.#conversions = sink.counter({
      labelNames: ["version", "result"],
      name: "webhook_conversions_total",
      help: "Number of objects in reviews of conversions, by the version asked for and the result",
    });
    sink.gauge({
      labelNames: ["webhook"],
      name: "controller_runtime_webhook_requests_in_flight",
      help: "Calls of webhooks that wait for their answer, by path",
      read: () =>
        Object.entries(read().inFlight).map(([webhook, count]) => [{ webhook }, count] as const),
    });
    sink.gauge<never>({
      name: "webhook_certificate_expiry_seconds",
      help: "End of the certificate of the webhook server, in seconds since 1970",
      read: () => {
        const { certificateExpiry } = read();
        return certificateExpiry === undefined ? [] : [[{}, certificateExpiry / 1_000]];
      },
    });
    sink.total<never>({
      name: "webhook_bundle_writes_total",
      help: "Number of writes of the authorities into configurations",
      read: () => [[{}, read().bundleWrites]],
    });
  }

  answered({ webhook, code, duration }: WebhookCallMetric): void {
    this.#requests.add({ webhook, code });
    this.#latency.record({ webhook }, duration / 1_000);
  }

  converted({ version, result, objects }: ConversionMetric): void {
    this.#conversions.add({ version, result }, objects);
  }
}
