import { onAbort } from "@holdfast/clock";
import type { ProgramContext } from "@holdfast/explore";
import {
  type OperatorContext,
  type OperatorControllerArguments,
  runOperator,
  type StartWork,
} from "@holdfast/kubernetes";
import type { ExploreOperatorOptions, ResolvedExplore } from "./explore-options.ts";
import type { ExploredCluster } from "./explored-cluster.ts";
import { ExploredTransport } from "./explored-transport.ts";

type Setup<World> = ExploreOperatorOptions<World>["setup"];

/** Of the Leases of an explored operator. */
const NAMESPACE = "holdfast-explored-operator";

/** Runs an operator as a replica of a world, until it stops. */
export function runExplored<World>(
  setup: Setup<World>,
  { shards, resources, settings }: ResolvedExplore<World>,
  { world: cluster, ...program }: ProgramContext<ExploredCluster<World>>,
): Promise<void> {
  const server = { hasSlots: shards !== undefined, resources };
  const { clock, random, logger, signal, replica } = program;
  return runOperator(
    {
      name: "explored",
      transport: new ExploredTransport(cluster.api, program, server),
      setup: started(setup, program, cluster.world),
      identity: `replica-${replica}`,
      shards: shards && { namespace: NAMESPACE, ...shards },
      leaderElection: !shards && (settings.replicas ?? 1) > 1 && { namespace: NAMESPACE },
      health: false,
      ...{ clock, random, logger },
    },
    signal,
  );
}

/** The setup, which tells the explorer how far it is, and which reconciles fail. */
function started<World>(
  setup: Setup<World>,
  program: Omit<ProgramContext<unknown>, "world">,
  world: World,
): (context: OperatorContext) => Promise<StartWork> {
  const { starting, note, watch, endTerm, link, step, uid } = program;
  return async (context) => {
    starting("setup");
    const controller = <Item>(options: OperatorControllerArguments<Item>) =>
      context.controller({
        ...options,
        reconcile: watch(options.name, options.reconcile),
      } as typeof options);
    const start = await setup({ ...context, controller, link, step, uid, world });
    if (typeof start !== "function") return start;
    starting("the first list of the caches");
    return (leadership) => {
      starting(undefined);
      const { token } = leadership;
      if (token > 0) note(`leads, token ${token}`);
      onAbort(leadership.signal, () => {
        if (token > 0) note(`no longer leads, token ${token}`);
        endTerm();
      });
      return start(leadership);
    };
  };
}
