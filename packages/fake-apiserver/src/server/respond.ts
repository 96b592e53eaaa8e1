import type { Clock } from "@holdfast/clock";
import type { Random } from "@holdfast/wait";
import type { JsonObject } from "../object/json.ts";
import { type ApiResponse, warningHeaders } from "./api-response.ts";
import type { ApiCall } from "./request/api-call.ts";
import { listObjects, requireKnownVersion } from "./request/list-objects.ts";
import { representationOf } from "./request/representation.ts";
import { selectorOf } from "./request/selector.ts";
import type { ApiState } from "./state/api-state.ts";
import { watchRequestOf } from "./watch/watch-request.ts";
import { WatchStream } from "./watch/watch-stream.ts";
import { removedStatus } from "./write/delete-object.ts";
import type { AdmittedWrite, Objects } from "./write/objects.ts";
import { getScale, scaleOf } from "./write/scale.ts";

/** Seconds after which a real server ends a watch that names no time: at least this, at most twice. */
const MIN_WATCH = 1_800_000;

/** Where responses come from. */
export interface Sources {
  readonly state: ApiState;
  readonly objects: Objects;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Carries a call out: reads objects, or stores those of its writes.
 *
 * @throws Failure for a read that the server does not allow
 */
export function respond(
  sources: Sources,
  call: ApiCall,
  writes: Iterable<AdmittedWrite>,
): ApiResponse {
  const { state, objects, clock } = sources;
  switch (call.verb) {
    case "get":
      return get(sources, call);
    case "list":
      return { status: 200, json: listObjects(state, call, () => clock.now()) };
    case "watch":
      // A scale is read alone.
      return call.subresource === "scale" ? get(sources, call) : watch(sources, call);
    case "deletecollection": {
      const json = listObjects(state, call, () => clock.now());
      for (const write of writes) objects.commit(write);
      return { status: 200, json };
    }
    default: {
      const [write] = writes as readonly [AdmittedWrite];
      return stored(sources, call, write);
    }
  }
}

function get({ state, objects, clock }: Sources, call: ApiCall): ApiResponse {
  if (call.subresource === "scale") return { status: 200, json: getScale(objects, call) };
  requireKnownVersion(call.query, state.version);
  return { status: 200, json: shown(clock, call, objects.get(call)) };
}

function watch({ state, clock, random }: Sources, call: ApiCall): ApiResponse {
  const request = watchRequestOf(call);
  const longest = MIN_WATCH * (1 + random());
  // Rejects a bad request before the head is sent, instead of in the stream.
  selectorOf(call);
  representationOf(call, () => clock.now(), false);
  return {
    status: 200,
    watch: (body) => void new WatchStream({ state, clock, call, request, body, longest }),
  };
}

function stored({ objects, clock }: Sources, call: ApiCall, write: AdmittedWrite): ApiResponse {
  const object = objects.commit(write);
  if (call.verb === "delete" && write.isRemoved) return { status: 200, json: removedStatus(write) };
  const { status, warnings = [] } = write;
  return { status, json: shown(clock, call, object), headers: warningHeaders(warnings) };
}

/** An object as the response of a call shows it. */
function shown(clock: Clock, call: ApiCall, object: JsonObject): JsonObject {
  if (call.subresource === "scale") return scaleOf(call, object);
  return representationOf(call, () => clock.now(), false).object(object);
}
