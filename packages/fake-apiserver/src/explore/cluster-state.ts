import type { KubeObject, Resource, StoredObject } from "@holdfast/kubernetes";
import type { JsonObject } from "../object/json.ts";
import { type NormalFormOptions, normalForm } from "../server/normal-form.ts";
import type { StateSnapshot } from "../server/state/api-state.ts";
import { withoutForeignCondition } from "./foreign-condition.ts";

/** The state of an explored world, at one moment. */
export interface ClusterState<World = unknown> {
  /** The objects of a resource. */
  list<T extends KubeObject>(resource: Resource<T, KubeObject>): StoredObject<T>[];

  /** The systems outside of the cluster. */
  readonly world: World;
}

/** Kinds that come and go by themselves. */
export const ASIDE: ReadonlySet<string> = new Set(["Lease", "Event"]);

/** A snapshot of a cluster. As JSON it is its normal form. */
export class Snapshot<World> implements ClusterState<World> {
  readonly world: World;
  /** See {@link SnapshotOptions}. */
  readonly problem: string | undefined;
  readonly #snapshot: StateSnapshot;
  readonly #outside: unknown;
  readonly #options: NormalFormOptions;

  constructor(snapshot: StateSnapshot, world: World, options: SnapshotOptions<World>) {
    this.world = world;
    this.#snapshot = snapshot;
    this.#outside = options.stateOf?.(world);
    this.#options = options;
    this.problem = options.problem;
  }

  list<T extends KubeObject>({ apiVersion, kind }: Resource<T, KubeObject>): StoredObject<T>[] {
    const own = objectsOf(this.#snapshot).filter(
      (one) => one.kind === kind && one.apiVersion === apiVersion,
    );
    return structuredClone(own).map(withoutForeignCondition) as unknown as StoredObject<T>[];
  }

  toJSON(): unknown {
    const objects = Object.fromEntries(normalForm(this.#snapshot, this.#options));
    const { problem } = this;
    const marked = problem === undefined ? objects : { ...objects, problem };
    return this.#outside === undefined ? marked : { ...marked, world: this.#outside };
  }
}

/** Options for {@link Snapshot}. */
export interface SnapshotOptions<World> extends NormalFormOptions {
  /** A mistake of the operator that no state shows. */
  readonly problem?: string | undefined;
  readonly stateOf: ((world: World) => unknown) | undefined;
}

function objectsOf({ stores }: StateSnapshot): StoredObject<KubeObject>[] {
  const objects: JsonObject[] = [...stores.values()].flatMap((store) => [...store.values()]);
  return (objects as unknown as StoredObject<KubeObject>[]).filter(
    ({ kind = "" }) => !ASIDE.has(kind),
  );
}
