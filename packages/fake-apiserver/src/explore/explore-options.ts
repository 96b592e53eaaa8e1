import type { Clock } from "@holdfast/clock";
import {
  EXPLORE_SETTINGS,
  type ExploreSettings,
  type ProgramContext,
  type WorldContext,
} from "@holdfast/explore";
import { func, type Kinds, kind, read, required, requireOptions } from "@holdfast/kit";
import type {
  KubeClient,
  OperatorContext,
  OperatorShardsOptions,
  Resource,
  StartWork,
  Webhook,
} from "@holdfast/kubernetes";
import type { FakeApi } from "../server/fake-api.ts";
import { resourceList, webhookList } from "../server/kinds.ts";
import type { Normalise } from "../server/normal-form.ts";
import type { ClusterState } from "./cluster-state.ts";

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

  /**
   * Admission webhooks, which the server asks about writes of the operator and of the scenario. At each write that one of them
   * is asked about there are worlds in which they are down, slow, or refuse it.
   *
   * @defaultValue none
   */
  readonly webhooks?: readonly Webhook[] | undefined;

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

export const EXPLORE_OPTIONS: Kinds<ExploreOperatorOptions<never>> = {
  setup: required(func),
  shards: kind("shards", (path, shards) => requireOptions(path, shards)),
  upgradeFrom: func,
  resourcesFrom: resourceList,
  resources: required(resourceList),
  webhooks: webhookList,
  scenario: required(func),
  world: func,
  stateOf: func,
  normalise: func,
  recreates: resourceList,
  ...EXPLORE_SETTINGS,
};

/** The options with their defaults, those of every explorer apart. */
export interface ResolvedExplore<World>
  extends Pick<
    ExploreOperatorOptions<World>,
    "setup" | "shards" | "upgradeFrom" | "resources" | "webhooks" | "scenario" | "world" | "stateOf"
  > {
  readonly resourcesFrom: readonly Resource[];
  readonly recreates: readonly Resource[];
  readonly normalise: Normalise;
  readonly settings: ExploreSettings<ClusterState<World>>;
}

/** @throws RangeError or TypeError that names the option */
export function resolveExplore<World>(
  options: ExploreOperatorOptions<World>,
): ResolvedExplore<World> {
  const given = read("options", options, "explore", EXPLORE_OPTIONS);
  const { setup, shards, upgradeFrom, resources, resourcesFrom = resources, ...rest } = given;
  const { webhooks, scenario, world, stateOf, normalise, recreates = [], ...settings } = rest;
  return {
    ...{ setup, shards, upgradeFrom, resources, resourcesFrom, webhooks, scenario, world, stateOf },
    ...{ normalise: normalise ?? ((object) => object), recreates, settings },
  };
}
