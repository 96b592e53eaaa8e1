import {
  type ExplorationReport,
  explore as exploreProgram,
  type ProgramContext,
} from "@holdfast/explore";
import { mergeRules, type PolicyRule } from "../server/rights.ts";
import type { ClusterState, Snapshot } from "./cluster-state.ts";
import { type ExploreOperatorOptions, resolveExplore } from "./explore-options.ts";
import { ExploredCluster } from "./explored-cluster.ts";
import { runExplored } from "./explored-operator.ts";
import { type KnownCalls, patientClient } from "./patient-client.ts";

/** The result of an exploration of an operator. */
export interface OperatorExploration extends ExplorationReport {
  /**
   * The least rules for the requests of the operator in all worlds, as a manifest has them. The one for Leases
   * belongs in a Role in the operator's own namespace, or nowhere without an election: in a ClusterRole it would let the
   * operator depose any other. `npx @holdfast/fake-apiserver rules` prints both roles.
   */
  readonly rules: readonly PolicyRule[];
}

/** The rights on its Leases that `runOperator` needs. */
const ELECTION: PolicyRule = {
  apiGroups: ["coordination.k8s.io"],
  resources: ["leases"],
  verbs: ["create", "get", "update"],
};

/** Timers of informers and electors. */
const UPKEEP = ["end of watch", "relist", "watch idle", "retry period", "renew deadline"];

/**
 * Runs an operator in many worlds, each with another fault, and compares how they end: a crash before and after each
 * write, a lost response, a conflict, an error of the server, an event that comes late or never, a hand-over. No
 * fault is named: a run without one finds the places. Every world has a fake server and a fake clock of its own.
 *
 * The run without a fault is checked too: the operator becomes quiet, holds still when it is started again, and leaves
 * no timer. Objects whose owners are gone are collected, as in a cluster; an owner in another namespace is an error. States are compared without uids, versions,
 * times, generated names, Leases and Events.
 *
 * @param options - see {@link ExploreOperatorOptions}
 * @returns the numbers of worlds and faults. Rejects with an `ExplorationError` of `@holdfast/explore` that
 * names the first fault, shows the difference and the requests around it, and tells how to run that world alone; and
 * with a TypeError or RangeError for a bad option
 *
 * Source: Sieve (OSDI 2022).
 *
 * @example
 * ```ts
 * import { builtIn, type KubeObject, type OperatorContext } from "@holdfast/kubernetes";
 * import { explore } from "@holdfast/fake-apiserver";
 *
 * const ConfigMap = builtIn<KubeObject & { data?: { [key: string]: string } }>("v1", "ConfigMap");
 *
 * // The operator: every ConfigMap gets the key "seen".
 * function marker({ cluster, client, controller }: OperatorContext) {
 *   const maps = cluster.watch(ConfigMap);
 *   return () => [
 *     controller({
 *       name: "marker",
 *       sources: [maps.source()],
 *       async reconcile({ key, signal }) {
 *         if (maps.get(key) === undefined) return;
 *         await client.patch(ConfigMap, key, { data: { seen: "yes" } }, { signal });
 *       },
 *     }),
 *   ];
 * }
 * const { faults } = await explore({
 *   setup: marker,
 *   resources: [ConfigMap],
 *   async scenario({ client }) {
 *     await client.create(ConfigMap, { metadata: { namespace: "default", name: "a" } });
 *   },
 * });
 * console.log(faults["crash-after"] !== undefined); // => true
 * ```
 */
export async function explore<World = undefined>(
  options: ExploreOperatorOptions<World>,
): Promise<OperatorExploration> {
  const resolved = resolveExplore(options);
  const { upgradeFrom, scenario, settings } = resolved;
  const rules: PolicyRule[] = [];
  const known: KnownCalls = new Set();
  const running =
    (setup: ExploreOperatorOptions<World>["setup"]) =>
    (program: ProgramContext<ExploredCluster<World>>): Promise<void> =>
      runExplored(setup, resolved, program);
  const report = await exploreProgram<ExploredCluster<World>, ClusterState<World>>({
    ...settings,
    world: (context) => new ExploredCluster(resolved, context),
    run: running(resolved.setup),
    upgradeFrom: upgradeFrom && running(upgradeFrom),
    onVersion: (cluster, version) => cluster.serve(version),
    scenario: async ({ world: { api, world }, clock, ready }) => {
      await ready();
      await scenario({ client: patientClient(api.client, clock, known), clock, api, world });
    },
    stateOf: (cluster) => cluster.snapshot(),
    invariant: (state) => {
      const { problem } = state as Snapshot<World>;
      if (problem !== undefined) throw new Error(problem);
      settings.invariant?.(state);
    },
    upkeep: UPKEEP,
    revisionOf: (cluster) => cluster.revision(),
    // Called once, at the end of a world.
    countsOf: (cluster) => {
      rules.push(...cluster.api.rulesUsed());
      return cluster.counts;
    },
  });
  return { ...report, rules: mergeRules([...rules, ELECTION]) };
}
