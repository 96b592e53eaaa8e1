import {
  above,
  func,
  type Kinds,
  kind,
  read,
  requireBetween,
  requireWhole,
  text,
} from "@holdfast/kit";
import type { BackoffOptions, BackoffStrategy, Random } from "@holdfast/wait";
import { strategyOf } from "@holdfast/wait/strategies";
import {
  API_TARGET_OPTIONS,
  type ApiTargetOptions,
  apiTarget,
  type MeasuredTarget,
} from "../client/api-target.ts";
import { fieldManager } from "../client/call-options.ts";
import type { KubeClientOptions } from "../client/kube-client-options.ts";
import type { KubernetesMetrics } from "../kubernetes-metrics.ts";

/** How informers follow their objects. */
export const FOLLOWING_OPTIONS: Kinds<
  Pick<ClusterOptions, "backoff" | "idleTimeout" | "pageSize" | "relistEvery">
> = {
  backoff: kind("backoff", strategyOf),
  idleTimeout: above(0),
  pageSize: kind("pageSize", requirePageSize),
  relistEvery: above(0),
};

export const CLUSTER_OPTIONS: Kinds<ClusterOptions> = {
  name: text,
  fieldManager,
  random: func,
  ...FOLLOWING_OPTIONS,
  ...API_TARGET_OPTIONS,
};

/** Options for `Cluster`. */
export interface ClusterOptions extends ApiTargetOptions {
  /**
   * Name in errors, logs and the status.
   *
   * @defaultValue `"cluster"`
   */
  readonly name?: string | undefined;

  /**
   * Name under which the server notes the fields that `client` writes. At most 128 characters.
   *
   * @defaultValue `"holdfast"`
   */
  readonly fieldManager?: KubeClientOptions["fieldManager"];

  /**
   * Source of jitter.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;

  /**
   * Delays between failed lists and watches, for each informer: a strategy, or the options of a `Backoff`. They must not
   * end.
   *
   * @defaultValue equal jitter of 0.8 s, doubled up to 20 s
   */
  readonly backoff?: BackoffStrategy | BackoffOptions | undefined;

  /**
   * Milliseconds without a byte after which a list or a watch is given up and asked for again. Above 0, or
   * `Infinity`. A server sends a bookmark about once a minute, but none while nothing changes: then a watch asks to be
   * ended after 80 % of this time.
   *
   * @defaultValue `90_000`
   */
  readonly idleTimeout?: number | undefined;

  /**
   * Objects per page of a list. A whole number from 1 to 10,000.
   *
   * @defaultValue `500`
   */
  readonly pageSize?: number | undefined;

  /**
   * Milliseconds after a list at which an informer lists again although nothing is wrong. Above 0, or
   * `Infinity`.
   *
   * @defaultValue `Infinity`: never
   */
  readonly relistEvery?: number | undefined;
}

/** The options with their defaults. */
export interface ResolvedCluster {
  readonly name: string;
  readonly target: MeasuredTarget;
  readonly metrics: KubernetesMetrics | undefined;
  readonly fieldManager: string | undefined;
  readonly random: Random | undefined;
  readonly backoff: BackoffStrategy;
  readonly idleTimeout: number;
  readonly pageSize: number;
  readonly relistEvery: number;
}

const BACKOFF = { duration: 800, factor: 2, cap: 20_000, jitter: "equal" } as const;

/** @throws RangeError or TypeError that names the option */
export function resolveCluster(options: ClusterOptions): ResolvedCluster {
  const given = read("options", options, "Cluster", CLUSTER_OPTIONS);
  const { name = "cluster", fieldManager: manager, metrics, random } = given;
  const { idleTimeout = 90_000, pageSize = 500, relistEvery = Number.POSITIVE_INFINITY } = given;
  const backoff = strategyOf("options.backoff", given.backoff ?? BACKOFF, random);
  const target = apiTarget(given);
  return {
    name,
    target,
    metrics,
    fieldManager: manager,
    random,
    backoff,
    idleTimeout,
    pageSize,
    relistEvery,
  };
}

function requirePageSize(path: string, size: number): void {
  requireWhole(path, requireBetween(path, size, 1, 10_000), 1);
}
