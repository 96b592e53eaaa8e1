import type { KubeRequest, Resource } from "@holdfast/kubernetes";
import type { JsonObject } from "../object/json.ts";
import { FakeApi } from "../server/fake-api.ts";
import type { HookFaultRule } from "../server/faults.ts";
import { asServed, withoutUnwantedNulls } from "../server/resource/normalize.ts";
import { type ServedResource, servedResources } from "../server/resource/served-resource.ts";
import type { ApiState, StateSnapshot } from "../server/state/api-state.ts";

/** A fake API server whose objects an explorer watches, and whose definitions it changes. */
export class ExploredApi extends FakeApi {
  /** The first mistake of the operator that no state shows: an owner in another namespace, a status that is dropped. */
  problem: string | undefined = undefined;

  /** The instant of each change, by its version. */
  readonly changedAt: Map<string, number> = new Map();

  /** The objects of the server. */
  get objects(): ApiState {
    return this.state;
  }

  /** The webhooks that a request may ask, and the resource whose objects it converts. */
  hooksFor(request: KubeRequest): readonly HookFaultRule["hook"][] {
    return this.server.hooksFor(request);
  }

  /** The objects in the versions of these resources, whichever is stored. */
  seenAs(served: readonly ServedResource[]): StateSnapshot {
    const snapshot = this.state.snapshot();
    return mapped(snapshot, (store, object) => {
      const own = served.find(({ storeKey }) => storeKey === store);
      return own === undefined ? object : asServed(own, object);
    });
  }

  /** Serves other resources from now on, with the objects as they are. */
  serve(resources: readonly Resource[]): void {
    const served = servedResources(resources);
    this.server.serve(served);
    this.state.restore(underSchemas(this.state.snapshot(), served));
  }
}

/** The objects as a server reads them after a change of their definitions: without fields that went, with new defaults. */
function underSchemas(snapshot: StateSnapshot, served: readonly ServedResource[]): StateSnapshot {
  return mapped(snapshot, (store, object) => {
    const own = served.find(
      (one) => one.storeKey === store && one.apiVersion === object["apiVersion"],
    );
    return own === undefined ? object : withoutUnwantedNulls(own, object);
  });
}

function mapped(
  { version, stores }: StateSnapshot,
  change: (store: string, object: JsonObject) => JsonObject,
): StateSnapshot {
  const entries = [...stores].map(([store, objects]) => {
    const all = [...objects].map(([key, object]) => [key, change(store, object)] as const);
    return [store, new Map(all)] as const;
  });
  return { version, stores: new Map(entries) };
}
