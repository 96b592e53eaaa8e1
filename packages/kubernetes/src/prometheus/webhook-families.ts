import { Counter, Gauge, Histogram, type Registry } from "prom-client";
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
  readonly #requests: Counter<"webhook" | "code">;
  readonly #latency: Histogram<"webhook">;
  readonly #conversions: Counter<"version" | "result">;

  constructor(register: Registry, read: () => WebhookStatus) {
    const registers = [register];
    this.#requests = new Counter({
      registers,
      labelNames: ["webhook", "code"],
      name: "controller_runtime_webhook_requests_total",
      help: "Number of calls of webhooks, by path and status code",
    });
    this.#latency = new Histogram({
      registers,
      labelNames: ["webhook"],
      buckets: BUCKETS,
      name: "controller_runtime_webhook_latency_seconds",
      help: "Seconds from a call of a webhook to its answer, by path",
    });
    this.#conversions = new Counter({
      registers,
      labelNames: ["version", "result"],
      name: "webhook_conversions_total",
      help: "Number of objects in reviews of conversions, by the version asked for and the result",
    });
    new Gauge({
      registers,
      labelNames: ["webhook"],
      name: "controller_runtime_webhook_requests_in_flight",
      help: "Calls of webhooks that wait for their answer, by path",
      collect() {
        for (const [webhook, count] of Object.entries(read().inFlight))
          this.set({ webhook }, count);
      },
    });
    new Gauge({
      registers,
      name: "webhook_certificate_expiry_seconds",
      help: "End of the certificate of the webhook server, in seconds since 1970",
      collect() {
        const { certificateExpiry } = read();
        if (certificateExpiry !== undefined) this.set(certificateExpiry / 1_000);
      },
    });
    new Counter({
      registers,
      name: "webhook_bundle_writes_total",
      help: "Number of writes of the authorities into configurations",
      collect() {
        this.reset();
        this.inc(read().bundleWrites);
      },
    });
  }

  answered({ webhook, code, duration }: WebhookCallMetric): void {
    this.#requests.inc({ webhook, code });
    this.#latency.observe({ webhook }, duration / 1_000);
  }

  converted({ version, result, objects }: ConversionMetric): void {
    this.#conversions.inc({ version, result }, objects);
  }
}
