import { abortable } from "@holdfast/clock/internal";
import { type KeyShards, Shards } from "@holdfast/controller";
import type { KubeClient } from "../client/kube-client.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { LeaseLock } from "../election/lease-lock.ts";
import type { ResolvedOperator, ResolvedShards } from "./operator-options.ts";

/** The slots of an operator, on Leases. */
export function shardsOf(
  { name: operator, identity, clock, random, logger, metrics }: ResolvedOperator,
  options: ResolvedShards,
  client: KubeClient,
): Shards {
  const { namespace, name, count, leaseDuration, renewDeadline, retryPeriod } = options;
  const shards = new Shards({
    count,
    identity,
    lockOf: (lock) =>
      new LeaseLock({ client, namespace, name: `${name}-${lock}`, leaseDuration, clock }),
    leaseDuration,
    renewDeadline,
    retryPeriod,
    clock,
    random,
    logger,
  });
  metrics?.shards(operator, shards);
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
      running = cluster.catchUp(stop).catch(() => {}); // rejects after the stop alone
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
