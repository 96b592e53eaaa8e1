import { type JsonObject, metadataOf } from "../object/json.ts";
import type { ApiResponse } from "./api-response.ts";
import type { ApiCall } from "./request/api-call.ts";
import { listObjects, requireCache, requireKnownVersion } from "./request/list-objects.ts";
import { representationOf } from "./request/representation.ts";
import { selectorOf } from "./request/selector.ts";
import { watchRequestOf } from "./watch/watch-request.ts";
import { WatchStream } from "./watch/watch-stream.ts";
import { admit, type RequireVerb } from "./write/admission.ts";
import { admitDelete, deletionOf, removedStatus } from "./write/delete-object.ts";
import type { AdmittedWrite, Objects } from "./write/objects.ts";
import { getScale, scaleOf } from "./write/scale.ts";

/** Seconds after which a real server ends a watch that names no time: at least this, at most twice. */
const MIN_WATCH = 1_800_000;

/**
 * Carries a call out: reads objects, or makes its writes and stores them.
 *
 * @returns the response. Rejects with a Failure for a call that the server does not allow
 */
export async function respond(
  objects: Objects,
  call: ApiCall,
  requireVerb: RequireVerb,
): Promise<ApiResponse> {
  switch (call.verb) {
    case "get":
      return get(objects, call);
    case "list":
      return { status: 200, json: listObjects(objects.state, call, objects.time) };
    case "watch":
      // A scale is read alone.
      return call.subresource === "scale" ? get(objects, call) : watch(objects, call);
    case "deletecollection":
      return await deleteCollection(objects, call);
    default: {
      const { write, object } = await stored(objects, () => admit(objects, call, requireVerb));
      if (call.verb === "delete" && write.isRemoved)
        return { status: 200, json: removedStatus(write) };
      const { status, warnings = [] } = write;
      return { status, json: shown(objects, call, object), warnings };
    }
  }
}

/** Deletes the objects that a call selects, one after the other. */
async function deleteCollection(objects: Objects, call: ApiCall): Promise<ApiResponse> {
  const deletion = deletionOf(call);
  const json = listObjects(objects.state, call, objects.time);
  for (const object of objects.selected(call)) {
    const { name, namespace } = metadataOf(object) as { name: string; namespace?: string };
    const one = { ...call, name, namespace };
    // Another request may have deleted it by now.
    if (objects.has(one, name)) await stored(objects, () => admitDelete(objects, one, deletion));
  }
  return { status: 200, json };
}

/** Makes a write and stores it. If its object is written meanwhile, it is made anew. */
async function stored(objects: Objects, make: () => Promise<AdmittedWrite>) {
  for (;;) {
    const write = await make();
    if (objects.isCurrent(write)) return { write, object: objects.commit(write) };
  }
}

function get(objects: Objects, call: ApiCall): ApiResponse {
  if (call.subresource === "scale") return { status: 200, json: getScale(objects, call) };
  requireKnownVersion(call.query, objects.state.version);
  return { status: 200, json: shown(objects, call, objects.get(call)) };
}

function watch({ state, clock, random, time }: Objects, call: ApiCall): ApiResponse {
  const request = watchRequestOf(call);
  requireCache(state, call);
  const longest = MIN_WATCH * (1 + random());
  // Rejects a bad request before the head is sent, instead of in the stream.
  selectorOf(call);
  representationOf(call, time, false);
  return {
    status: 200,
    watch: (body) => void new WatchStream({ state, clock, call, request, body, longest }),
  };
}

/** An object as the response of a call shows it. */
function shown({ time }: Objects, call: ApiCall, object: JsonObject): JsonObject {
  if (call.subresource === "scale") return scaleOf(call, object);
  return representationOf(call, time, false).object(object);
}
