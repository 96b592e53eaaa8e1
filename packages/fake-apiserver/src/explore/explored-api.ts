import type { Resource } from "@holdfast/kubernetes";
import type { JsonObject } from "../object/json.ts";
import { FakeApi } from "../server/fake-api.ts";
import { withoutUnwantedNulls } from "../server/resource/normalize.ts";
import { type ServedResource, servedResources } from "../server/resource/served-resource.ts";
import type { ApiState, StateSnapshot } from "../server/state/api-state.ts";

/** A fake API server whose objects an explorer watches, and whose definitions it changes. */
export class ExploredApi extends FakeApi {
  /** The first mistake of the operator that no state shows: an owner in another namespace, a status that is dropped. */
  problem: string | undefined = undefined;

  /** The objects of the server. */
  get objects(): ApiState {
    return this.state;
  }

  /** Serves other resources from now on, with the objects as they are. */
  serve(resources: readonly Resource[]): void {
    const served = servedResources(resources);
    this.server.serve(served);
    this.state.restore(underSchemas(this.state.snapshot(), served));
  }
}

/** The objects as a server reads them after a change of their definitions: without fields that went, with new defaults. */
function underSchemas(
  { version, stores }: StateSnapshot,
  served: readonly ServedResource[],
): StateSnapshot {
  const read = (store: string, object: JsonObject): JsonObject => {
    const own = served.find(
      (one) => one.storeKey === store && one.apiVersion === object["apiVersion"],
    );
    return own === undefined ? object : withoutUnwantedNulls(own, object);
  };
  const entries = [...stores].map(([store, objects]) => {
    const all = [...objects].map(([key, object]) => [key, read(store, object)] as const);
    return [store, new Map(all)] as const;
  });
  return { version, stores: new Map(entries) };
}
