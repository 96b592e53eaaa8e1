import { type Clock, realClock } from "@holdfast/clock";
import { defaultLogger, type Logger } from "@holdfast/controller";
import { type Kinds, messageOf, methods, RepeatedLines, required } from "@holdfast/kit";
import { resourceName } from "@holdfast/kit/kubernetes";
import type { Random } from "@holdfast/wait";
import { anyLogger } from "../kinds.ts";
import { KUBERNETES_METRICS, type KubernetesMetrics } from "../kubernetes-metrics.ts";
import { warn } from "../logger.ts";
import type { Resource } from "../object/resource.ts";
import type { KubeTransport } from "../transport/kube-transport.ts";
import type { ApiTarget } from "./api-request.ts";
import { WarningLog } from "./warning-log.ts";

export const API_TARGET_OPTIONS: Kinds<Omit<ApiTargetOptions, "random">> = {
  transport: required(methods("send")),
  clock: methods("now", "monotonic", "newTimer", "afterFunc", "sleep"),
  logger: anyLogger,
  metrics: methods(...KUBERNETES_METRICS),
};

/** Options for `apiTarget`. */
export interface ApiTargetOptions {
  /** The way to the server. */
  readonly transport: KubeTransport;

  /** Default: `realClock`. */
  readonly clock?: Clock | undefined;

  /** Default: `Math.random`. */
  readonly random?: Random | undefined;

  /** Default: warnings and errors on the console. */
  readonly logger?: Logger | undefined;

  /** Default: none. */
  readonly metrics?: KubernetesMetrics | undefined;
}

/** A target whose requests are measured, and whose warnings are logged, each once. */
export type MeasuredTarget = ApiTarget & {
  readonly logger: Logger;

  /** Counts an apply that was not sent. Does not throw. */
  readonly onSkipped: (resource: Resource) => void;
};

/** The target of checked options. */
export function apiTarget(options: ApiTargetOptions): MeasuredTarget {
  const { transport, clock = realClock, random, logger = defaultLogger, metrics } = options;
  const log = new WarningLog(logger, clock);
  const lines = new RepeatedLines(clock);
  const measure = (count: (metrics: KubernetesMetrics) => void, fact: string): void => {
    try {
      if (metrics !== undefined) count(metrics);
    } catch (err) {
      const more = lines.detailsOf(fact, messageOf(err));
      if (more !== undefined) warn(logger, { err, ...more }, `metrics threw; ${fact} not counted`);
    }
  };
  return {
    transport,
    clock,
    random,
    logger,
    onWarning: (header) => log.add(header),
    onRequested: (metric) => measure((to) => to.requested(metric), "request"),
    onSkipped: (resource) =>
      measure((to) => to.applySkipped(resourceName(resource)), "skipped apply"),
  };
}
