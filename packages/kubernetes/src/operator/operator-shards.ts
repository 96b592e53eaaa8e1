import { abortable } from "@holdfast/clock";
import { type KeyShards, Shards, type ShardsOptions } from "@holdfast/controller";
import type { KubeClient } from "../client/kube-client.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { LeaseLock } from "../election/lease-lock.ts";
import type { ResolvedElection, ResolvedOperator, ResolvedShards } from "./operator-options.ts";

/** Leases of an operator. */
interface OperatorLeases {
  readonly lockOf: (name: string) => LeaseLock;
  /** Options of whoever takes them. */
  readonly candidate: Pick<
    ShardsOptions & ResolvedOperator,
    "identity" | "leaseDuration" | "renewDeadline" | "retryPeriod" | "clock" | "random" | "logger"
  >;
}

export function leasesOf(
  { identity, clock, random, logger }: ResolvedOperator,
  { namespace, leaseDuration, renewDeadline, retryPeriod }: ResolvedElection | ResolvedShards,
  client: KubeClient,
): OperatorLeases {
  return {
    lockOf: (name: string) => new LeaseLock({ client, namespace, name, leaseDuration, clock }),
    candidate: { identity, leaseDuration, renewDeadline, retryPeriod, clock, random, logger },
  };
}

/** The slots of an operator, on Leases. */
export function shardsOf(
  operator: ResolvedOperator,
  options: ResolvedShards,
  client: KubeClient,
): Shards {
  const { name, count } = options;
  const { lockOf, candidate } = leasesOf(operator, options, client);
  const shards = new Shards({ count, lockOf: (lock) => lockOf(`${name}-${lock}`), ...candidate });
  operator.metrics?.shards(operator.name, shards);
  return shards;
}

/** The slots as the controllers see them: a slot comes when the caches have all that its last holder has written. */
export function afterCatchUp(shards: Shards, cluster: Cluster, stop: AbortSignal): KeyShards {
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  /** Calls share a catch-up that begins after them. */
  const catchUp = (): Promise<void> => {
    next ??= running.then(async () => {
      next = undefined;
      running = cluster.catchUp(stop);
      await running;
    });
    return next;
  };
  return {
    slotOf: (key) => shards.slotOf(key),
    join: (lead) =>
      shards.join(async (term) => {
        await abortable(catchUp, term.signal);
        await lead(term);
      }),
  };
}
