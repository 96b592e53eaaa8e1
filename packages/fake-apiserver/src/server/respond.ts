import type { JsonObject } from "../object/json.ts";
import { type ApiResponse, warningHeaders } from "./api-response.ts";
import type { ApiCall } from "./request/api-call.ts";
import { listObjects, requireKnownVersion } from "./request/list-objects.ts";
import { representationOf } from "./request/representation.ts";
import { selectorOf } from "./request/selector.ts";
import { watchRequestOf } from "./watch/watch-request.ts";
import { WatchStream } from "./watch/watch-stream.ts";
import { removedStatus } from "./write/delete-object.ts";
import type { AdmittedWrite, Objects } from "./write/objects.ts";
import { getScale, scaleOf } from "./write/scale.ts";

/** Seconds after which a real server ends a watch that names no time: at least this, at most twice. */
const MIN_WATCH = 1_800_000;

/**
 * Carries a call out: reads objects, or stores those of its writes.
 *
 * @throws Failure for a read that the server does not allow
 */
export function respond(
  objects: Objects,
  call: ApiCall,
  writes: Iterable<AdmittedWrite>,
): ApiResponse {
  switch (call.verb) {
    case "get":
      return get(objects, call);
    case "list":
      return { status: 200, json: listObjects(objects.state, call, objects.time) };
    case "watch":
      // A scale is read alone.
      return call.subresource === "scale" ? get(objects, call) : watch(objects, call);
    case "deletecollection": {
      const json = listObjects(objects.state, call, objects.time);
      for (const write of writes) objects.commit(write);
      return { status: 200, json };
    }
    default: {
      const [write] = writes as readonly [AdmittedWrite];
      return stored(objects, call, write);
    }
  }
}

function get(objects: Objects, call: ApiCall): ApiResponse {
  if (call.subresource === "scale") return { status: 200, json: getScale(objects, call) };
  requireKnownVersion(call.query, objects.state.version);
  return { status: 200, json: shown(objects, call, objects.get(call)) };
}

function watch({ state, clock, random, time }: Objects, call: ApiCall): ApiResponse {
  const request = watchRequestOf(call);
  const longest = MIN_WATCH * (1 + random());
  // Rejects a bad request before the head is sent, instead of in the stream.
  selectorOf(call);
  representationOf(call, time, false);
  return {
    status: 200,
    watch: (body) => void new WatchStream({ state, clock, call, request, body, longest }),
  };
}

function stored(objects: Objects, call: ApiCall, write: AdmittedWrite): ApiResponse {
  const object = objects.commit(write);
  if (call.verb === "delete" && write.isRemoved) return { status: 200, json: removedStatus(write) };
  const { status, warnings = [] } = write;
  return { status, json: shown(objects, call, object), headers: warningHeaders(warnings) };
}

/** An object as the response of a call shows it. */
function shown({ time }: Objects, call: ApiCall, object: JsonObject): JsonObject {
  if (call.subresource === "scale") return scaleOf(call, object);
  return representationOf(call, time, false).object(object);
}
