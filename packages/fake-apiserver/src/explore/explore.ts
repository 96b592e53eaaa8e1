import { type Clock, onAbort } from "@holdfast/clock";
import {
  type ExplorationReport,
  type ExploreSettings,
  explore as exploreProgram,
  type ProgramContext,
  type WorldContext,
} from "@holdfast/explore";
import {
  type OptionNames,
  requireArray,
  requireFunction,
  requireHooks,
  requireOptions,
} from "@holdfast/kit";
import { requireResource } from "@holdfast/kit/kubernetes";
import {
  builtIn,
  type KubeClient,
  type KubeObject,
  type OperatorContext,
  type OperatorControllerArguments,
  type OperatorShardsOptions,
  type Resource,
  runOperator,
  type StartWork,
} from "@holdfast/kubernetes";
import type { FakeApi } from "../server/fake-api.ts";
import type { Normalise } from "../server/normal-form.ts";
import { mergeRules, type PolicyRule } from "../server/rights.ts";
import { type ClusterState, Snapshot } from "./cluster-state.ts";
import { ExploredApi } from "./explored-api.ts";
import { ExploredTransport } from "./explored-transport.ts";
import { withoutForeignCondition } from "./foreign-condition.ts";
import { GarbageCollector } from "./garbage-collector.ts";
import { History } from "./history.ts";
import { type KnownCalls, patientClient } from "./patient-client.ts";

/** The context of an explored operator. */
export interface ExploredContext<World> extends OperatorContext {
  /** The systems outside of the cluster, as the option `world` made them. */
  readonly world: World;

  /** See `link` of {@link ProgramContext}: each call of the system becomes a step that faults can meet. */
  readonly link: ProgramContext<World>["link"];

  /** See `step` of {@link ProgramContext}: a step that faults can meet, for systems to which `link` does not fit. */
  readonly step: ProgramContext<World>["step"];

  /** Makes a unique id in the form of a UUID, the same in every run: in place of `crypto.randomUUID`. */
  readonly uid: ProgramContext<World>["uid"];
}

/** Options for {@link explore}. */
export interface ExploreOperatorOptions<World = undefined>
  extends ExploreSettings<ClusterState<World>> {
  /** The operator: the option `setup` of `runOperator`. Its context also has `link` and `world`. */
  readonly setup: (context: ExploredContext<World>) => StartWork | Promise<StartWork>;

  /**
   * Slots, as the option of `runOperator`: all `replicas` work, each on the keys of its slots. The writes of Leases that
   * take a slot, give it up or ask for it are steps then.
   *
   * @defaultValue none: one replica leads
   */
  readonly shards?: OperatorShardsOptions | undefined;

  /**
   * The operator of the last release, to prove an upgrade: worlds in which it gives way to `setup` after each of its steps
   * and at rest, with faults, and worlds in which `setup` gives way to it, as in a roll-back. The last state must be that
   * of the version with the last word, and no object may be made anew.
   *
   * @defaultValue none
   */
  readonly upgradeFrom?: ExploreOperatorOptions<World>["setup"] | undefined;

  /**
   * The resources of the last release, where their definitions differ: the server has them while that release runs.
   *
   * @defaultValue `resources`
   */
  readonly resourcesFrom?: readonly Resource[] | undefined;

  /** All resources that the operator and the scenario use, but for Leases and Events. */
  readonly resources: readonly Resource[];

  /** Does what users of the cluster do. */
  readonly scenario: (context: ScenarioContext<World>) => Promise<unknown>;

  /**
   * Makes the systems outside of the cluster: fakes, on the clock of the world. Called once for each world.
   *
   * @defaultValue none
   */
  readonly world?: ((context: WorldContext) => World) | undefined;

  /**
   * The state of the systems outside of the cluster to compare: JSON, Maps and Sets. Times of the run are not compared.
   *
   * @defaultValue none
   */
  readonly stateOf?: ((world: World) => unknown) | undefined;

  /**
   * Changes an object before it is compared; undefined leaves it out. UIDs, versions, generations, times, managed fields
   * and generated names never count, nor do Leases and Events.
   *
   * @defaultValue every object counts as it is
   */
  readonly normalise?: Normalise | undefined;

  /**
   * Resources whose objects the operator may delete and create again. Others must not be created or deleted more often
   * than without a fault, even if the last state is the same. Objects with generated names count as one.
   *
   * @defaultValue none
   */
  readonly recreates?: readonly Resource[] | undefined;
}

/** The context of a scenario. */
export interface ScenarioContext<World> {
  /** A client of the server, as a user with kubectl. */
  readonly client: KubeClient;

  /** The clock of the world. */
  readonly clock: Clock;

  /** The server, to look at requests and to change what it does. */
  readonly api: FakeApi;

  /** The systems outside of the cluster. */
  readonly world: World;
}

/** The result of an exploration of an operator. */
export interface OperatorExploration extends ExplorationReport {
  /**
   * The least rules for the requests of the operator in all worlds, as a manifest has them. The one for Leases
   * belongs in a Role in the operator's own namespace, or nowhere without an election: in a ClusterRole it would let the
   * operator depose any other. `npx @holdfast/fake-apiserver rules` prints both roles.
   */
  readonly rules: readonly PolicyRule[];
}

const OPTIONS: OptionNames<ExploreOperatorOptions<never>> = {
  setup: true,
  shards: true,
  upgradeFrom: true,
  resourcesFrom: true,
  resources: true,
  scenario: true,
  world: true,
  stateOf: true,
  normalise: true,
  recreates: true,
  invariant: true,
  expect: true,
  without: true,
  only: true,
  worlds: true,
  time: true,
  signal: true,
  pairs: true,
  replicas: true,
  quiet: true,
  longestTimer: true,
  logger: true,
  seed: true,
};

const BESIDE = [
  builtIn<KubeObject>("coordination.k8s.io/v1", "Lease"),
  builtIn<KubeObject>("events.k8s.io/v1", "Event"),
];

/** Of the Leases of an explored operator. */
const NAMESPACE = "holdfast-explored-operator";

/** The rights on its Leases that `runOperator` needs. */
const ELECTION: PolicyRule = {
  apiGroups: ["coordination.k8s.io"],
  resources: ["leases"],
  verbs: ["create", "get", "update"],
};

/** Timers of informers and electors. */
const UPKEEP = ["end of watch", "relist", "watch idle", "retry period", "renew deadline"];

interface Cluster<World> {
  readonly api: ExploredApi;
  /** `now()` at the begin of the world. */
  readonly start: number;
  readonly world: World;
  readonly history: History;
  /** The state as JSON has it, and the revision of the history at which it was taken. */
  last: { readonly revision: number; readonly state: unknown };
}

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
  const { setup, shards, upgradeFrom, resources, resourcesFrom, ...rest } = resolve(options);
  const { scenario, world, stateOf, normalise, recreates, ...settings } = rest;
  const rules: PolicyRule[] = [];
  const known: KnownCalls = new Set();
  const withBeside = (own: readonly Resource[]): readonly Resource[] => [
    ...own,
    ...BESIDE.filter((one) => !own.some(isSame(one))),
  ];
  const snapshot = ({ api, start, history, world: outside }: Cluster<World>): Snapshot<World> => {
    requireServed(api);
    const { problem } = history;
    const plain: Normalise = (object) => normalise(withoutForeignCondition(object));
    return new Snapshot(api, outside, { start, stateOf, normalise: plain, problem });
  };
  const runWith =
    (own: ExploreOperatorOptions<World>["setup"]) =>
    ({ world: cluster, ...program }: ProgramContext<Cluster<World>>): Promise<void> =>
      runOperator(
        {
          name: "explored",
          transport: new ExploredTransport(cluster.api, program, {
            hasSlots: shards !== undefined,
            resources,
          }),
          setup: started(own, program, cluster.world),
          identity: `replica-${program.replica}`,
          shards: shards && { namespace: NAMESPACE, ...shards },
          leaderElection: !shards && (settings.replicas ?? 1) > 1 && { namespace: NAMESPACE },
          health: false,
          clock: program.clock,
          random: program.random,
          logger: program.logger,
        },
        program.signal,
      );
  const report = await exploreProgram<Cluster<World>, ClusterState<World>>({
    ...settings,
    world: (context) => {
      const { clock, random } = context;
      const api = new ExploredApi({ clock, random, resources: withBeside(resources) });
      new GarbageCollector({ api, clock, resources });
      const history = new History({ api, resources, recreates });
      const last = { revision: -1, state: undefined };
      return { api, start: clock.now(), world: world?.(context) as World, history, last };
    },
    run: runWith(setup),
    upgradeFrom: upgradeFrom && runWith(upgradeFrom),
    onVersion: ({ api }, version) =>
      api.serve(withBeside(version === "new" ? resources : resourcesFrom)),
    scenario: async ({ world: { api, world: outside }, clock, ready }) => {
      await ready();
      const client = patientClient(api.client, clock, known);
      await scenario({ client, clock, api, world: outside });
    },
    stateOf: snapshot,
    invariant: (state) => {
      const { problem } = state as Snapshot<World>;
      if (problem !== undefined) throw new Error(problem);
      settings.invariant?.(state);
    },
    upkeep: UPKEEP,
    revisionOf: (cluster) => [plainState(cluster, snapshot), stateOf?.(cluster.world)],
    // Called once, at the end of a world.
    countsOf: ({ api, history }) => {
      rules.push(...api.rulesUsed());
      return history.counts;
    },
  });
  return { ...report, rules: mergeRules([...rules, ELECTION]) };
}

/** The state of a cluster, which is made anew after a change. */
function plainState<World>(
  cluster: Cluster<World>,
  snapshot: (cluster: Cluster<World>) => Snapshot<World>,
): unknown {
  const { revision } = cluster.history;
  if (cluster.last.revision !== revision)
    cluster.last = { revision, state: snapshot(cluster).toJSON() };
  return cluster.last.state;
}

/** The setup, which tells the explorer how far it is, and which reconciles fail. */
function started<World>(
  setup: ExploreOperatorOptions<World>["setup"],
  program: Omit<ProgramContext<Cluster<World>>, "world">,
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

function resolve<World>(options: ExploreOperatorOptions<World>) {
  requireOptions("options", options, "explore", OPTIONS);
  const { setup, shards, upgradeFrom, resources, resourcesFrom = resources, ...rest } = options;
  const { scenario, world, stateOf, normalise, recreates = [], ...settings } = rest;
  requireFunction("options.setup", setup);
  requireFunction("options.scenario", scenario);
  const { invariant } = settings;
  requireHooks("options", { world, stateOf, normalise, upgradeFrom, invariant });
  if (shards !== undefined) requireOptions("options.shards", shards);
  const lists = { resources, resourcesFrom, recreates };
  for (const [name, list] of Object.entries(lists)) {
    requireArray(`options.${name}`, list);
    for (const [index, resource] of list.entries())
      requireResource(resource, `options.${name}[${index}]`);
  }
  const same: Normalise = (object) => object;
  const hooks = {
    setup,
    shards,
    upgradeFrom,
    scenario,
    world,
    stateOf,
    normalise: normalise ?? same,
  };
  return { ...settings, ...hooks, ...lists };
}

function isSame({ apiVersion, kind }: Resource): (other: Resource) => boolean {
  return (other) => other.apiVersion === apiVersion && other.kind === kind;
}

/** @throws TypeError that names the path of a resource that the test has forgotten */
function requireServed(api: FakeApi): void {
  const unknown = api.requests.find(({ verb, status }) => verb === "other" && status === 404);
  if (unknown !== undefined)
    throw new TypeError(
      `options.resources must have every resource that the operator uses; it asked for ${unknown.path.slice(0, 200)}`,
    );
}
