import type { KubeObject, StoredObject } from "../../object/kube-object.ts";
import type { Resource } from "../../object/resource.ts";
import type { FakeApi } from "../fake-api.ts";
import type { JsonObject } from "../json.ts";
import type { StateSnapshot } from "../state/api-state.ts";
import { type Normalise, normalForm } from "./normal-form.ts";

/** The state of an explored world, at one moment. */
export interface ClusterState<World = unknown> {
  /** The objects of a resource. */
  list<T extends KubeObject>(resource: Resource<T>): StoredObject<T>[];

  /** The systems outside of the cluster. */
  readonly world: World;
}

/** Kinds that come and go by themselves. */
const ASIDE = new Set(["Lease", "Event"]);

/** A snapshot of a cluster. As JSON it is its normal form. */
export class Snapshot<World> implements ClusterState<World> {
  readonly world: World;
  readonly #objects: readonly StoredObject<KubeObject>[];
  readonly #outside: () => unknown;
  readonly #normalise: Normalise;

  constructor(api: FakeApi, world: World, options: SnapshotOptions<World>) {
    this.world = world;
    this.#objects = objectsOf(api);
    const outside = options.stateOf?.(world);
    this.#outside = () => outside;
    this.#normalise = options.normalise;
  }

  list<T extends KubeObject>({ apiVersion, kind }: Resource<T>): StoredObject<T>[] {
    const own = this.#objects.filter((one) => one.kind === kind && one.apiVersion === apiVersion);
    return structuredClone(own) as unknown as StoredObject<T>[];
  }

  toJSON(): unknown {
    const objects = normalForm(this.#objects, this.#normalise);
    const world = this.#outside();
    return world === undefined ? objects : { ...objects, world };
  }
}

/** Options for {@link Snapshot}. */
export interface SnapshotOptions<World> {
  readonly stateOf: ((world: World) => unknown) | undefined;
  readonly normalise: Normalise;
}

/** Another text after each change of an object that counts. */
export function revisionOf(api: FakeApi): string {
  const objects = objectsOf(api);
  const newest = Math.max(0, ...objects.map(({ metadata }) => Number(metadata.resourceVersion)));
  return `${newest} ${objects.length}`;
}

function objectsOf(api: FakeApi): StoredObject<KubeObject>[] {
  const { stores } = api.snapshot() as StateSnapshot;
  const objects: JsonObject[] = [...stores.values()].flatMap((store) => [...store.values()]);
  return (objects as unknown as StoredObject<KubeObject>[]).filter(
    ({ kind = "" }) => !ASIDE.has(kind),
  );
}
