import type { ControllerMetrics, QueueMetrics, Shards } from "@holdfast/controller";
import type { InformerStatus } from "../cluster/cluster-status.ts";
import { KUBERNETES_METRICS, type KubernetesMetrics } from "../kubernetes-metrics.ts";
import type { WebhookMetrics, WebhookStatus } from "../webhook/webhook-metrics.ts";

/** Receiver of all that an operator measures. `prometheusMetrics` of `@holdfast/kubernetes/prometheus` is one. */
export interface OperatorMetrics extends KubernetesMetrics {
  /** The option `metrics` of a controller of this name. */
  controller(name: string): ControllerMetrics;

  /** The option `queueMetrics` of a controller of this name. */
  queue(name: string): QueueMetrics;

  /** Reports whether the process leads: `candidate` is read when the metrics are. */
  leadership(name: string, candidate: { readonly isLeader: boolean }): void;

  /** Reports the slots of the process: `shards.status()` is called when the metrics are read. */
  shards(name: string, shards: Pick<Shards, "status">): void;

  /** Reports the informers of a cluster: `read` is called when the metrics are read. */
  informers(read: () => readonly InformerStatus[]): void;

  /** The receiver of the facts of webhooks: `read` is called when the metrics are read. Optional. */
  webhooks?(read: () => WebhookStatus): WebhookMetrics;
}

/** The methods of {@link OperatorMetrics}. */
export const OPERATOR_METRICS: readonly (keyof OperatorMetrics)[] = [
  ...KUBERNETES_METRICS,
  "controller",
  "queue",
  "leadership",
  "shards",
  "informers",
];
