import type { WorldContext } from "@holdfast/explore";
import { builtIn, type KubeObject, type Resource } from "@holdfast/kubernetes";
import type { FakeApi } from "../server/fake-api.ts";
import type { Normalise } from "../server/normal-form.ts";
import { type ServedResource, servedResources } from "../server/resource/served-resource.ts";
import { Snapshot } from "./cluster-state.ts";
import type { ResolvedExplore } from "./explore-options.ts";
import { ExploredApi } from "./explored-api.ts";
import { withoutForeignCondition } from "./foreign-condition.ts";
import { GarbageCollector } from "./garbage-collector.ts";
import { History } from "./history.ts";

const BESIDE = [
  builtIn<KubeObject>("coordination.k8s.io/v1", "Lease"),
  builtIn<KubeObject>("events.k8s.io/v1", "Event"),
];

/** The cluster of one world, with its garbage collector, and the systems outside of it. */
export class ExploredCluster<World> {
  readonly api: ExploredApi;
  readonly world: World;
  readonly #options: ResolvedExplore<World>;
  readonly #history: History;
  readonly #start: number;
  /** The versions in which states are compared: those of the new release. */
  readonly #served: readonly ServedResource[];

  /** The state as JSON has it, and the revision of the history at which it was taken. */
  #last: { readonly revision: number; readonly state: unknown } = {
    revision: -1,
    state: undefined,
  };

  constructor(options: ResolvedExplore<World>, context: WorldContext) {
    const { clock, random } = context;
    const { resources, recreates, webhooks, world } = options;
    this.#options = options;
    this.#served = servedResources(resources);
    const api = new ExploredApi({ clock, random, webhooks, resources: withBeside(resources) });
    this.api = api;
    new GarbageCollector({ api, clock, resources });
    this.#history = new History({ api, clock, resources, recreates });
    this.#start = clock.now();
    this.world = world?.(context) as World;
  }

  /** How often each object came to be and ceased to be. */
  get counts(): ReadonlyMap<string, number> {
    return this.#history.counts;
  }

  /** Serves the resources of a version from now on. */
  serve(version: "old" | "new"): void {
    const { resources, resourcesFrom } = this.#options;
    this.api.serve(withBeside(version === "new" ? resources : resourcesFrom));
  }

  /** @throws TypeError if the operator has asked for a resource that the test has forgotten */
  snapshot(): Snapshot<World> {
    requireServed(this.api);
    const { stateOf } = this.#options;
    const { problem } = this.#history;
    const normalise: Normalise = (object) =>
      this.#options.normalise(withoutForeignCondition(object));
    const seen = this.api.seenAs(this.#served);
    return new Snapshot(seen, this.world, { start: this.#start, stateOf, normalise, problem });
  }

  /** Another value after each change: objects are read again only if one of them has changed. */
  revision(): unknown {
    const { revision } = this.#history;
    if (this.#last.revision !== revision)
      this.#last = { revision, state: this.snapshot().toJSON() };
    return [this.#last.state, this.#options.stateOf?.(this.world)];
  }
}

function withBeside(own: readonly Resource[]): readonly Resource[] {
  return [...own, ...BESIDE.filter((one) => !own.some(isSame(one)))];
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
