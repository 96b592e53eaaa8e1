import {
  defined,
  isObject,
  type JsonObject,
  metadataOf,
  parseJson,
  pick,
  valueAt,
} from "../../object/json.ts";
import { badRequest, type Failure, internalFailure } from "../failure.ts";
import { goForm } from "../patch/json-patch-operations.ts";
import type { ApiCall } from "../request/api-call.ts";
import { decodeFailure } from "../resource/decode.ts";
import type { ScalePaths } from "../resource/served-resource.ts";
import { changedObject } from "./changed-object.ts";
import type { AdmittedWrite, Objects } from "./objects.ts";
import { patchedObject } from "./patch-object.ts";
import { requireJson, requirePlace } from "./read-object.ts";
import { writeOptionsOf } from "./write-options.ts";

/** The subresource `scale` of an object. Replicas of 0 are left out. */
export function scaleOf({ served }: ApiCall, object: JsonObject): JsonObject {
  const { specReplicas, statusReplicas, selector } = served.scale as ScalePaths;
  const replicas = valueAt(object, specReplicas);
  const metadata = pick(metadataOf(object), [
    ...["name", "namespace", "uid", "resourceVersion", "creationTimestamp"],
  ]);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata,
    spec: defined({ replicas: replicas || undefined }),
    status: defined({
      replicas: valueAt(object, statusReplicas) ?? 0,
      selector: selector && valueAt(object, selector),
    }),
  };
}

/** @throws Failure for an object that does not exist, and for one without replicas */
export function getScale(objects: Objects, call: ApiCall): JsonObject {
  const object = objects.get(call);
  const { specReplicas } = call.served.scale as ScalePaths;
  if (valueAt(object, specReplicas) === undefined) throw missing(specReplicas);
  return scaleOf(call, object);
}

/**
 * The write of an update or a patch of the subresource `scale`.
 *
 * @throws Failure for an object that does not exist, and a number of replicas that is none
 */
export async function admitScale(objects: Objects, call: ApiCall): Promise<AdmittedWrite> {
  const { specReplicas } = call.served.scale as ScalePaths;
  const old = objects.get(call);
  const isPatch = call.verb === "patch";
  const kind = isPatch ? "PatchOptions" : "UpdateOptions";
  const scale = isPatch ? patchedScale(call, scaleOf(call, old)) : readScale(call);
  const replicas = valueAt(scale, ["spec", "replicas"]) ?? 0;
  if (!Number.isInteger(replicas))
    throw decodeFailure(
      call,
      `json: cannot unmarshal ${goForm(replicas)} into Go struct field ScaleSpec.spec.replicas of type int32`,
      scale,
    );
  const names = isPatch ? ["resourceVersion"] : ["resourceVersion", "uid"];
  const taken = (one: JsonObject): JsonObject => {
    const scaled = withValue(old, specReplicas, valueAt(one, ["spec", "replicas"]) ?? 0);
    return { ...scaled, metadata: { ...metadataOf(scaled), ...pick(metadataOf(one), names) } };
  };
  const part = { shown: (object: JsonObject) => scaleOf(call, object), taken };
  const change = { old, submitted: taken(scale), part };
  return await changedObject(objects, call, change, writeOptionsOf(call, kind));
}

/** @throws Failure for a body that is no Scale, or belongs to another name or namespace */
function readScale(call: ApiCall): JsonObject {
  requireJson(call);
  const scale = parseJson(call.body ?? "");
  if (isObject(scale) && isScale(scale)) return requirePlace(call, scale);
  throw badRequest("the body of the request must be a Scale of autoscaling/v1");
}

/** @throws Failure for a patch that leaves no Scale, or that of another name or namespace */
function patchedScale(call: ApiCall, old: JsonObject): JsonObject {
  const { object } = patchedObject(call, old);
  if (isScale(object)) return requirePlace(call, object);
  throw decodeFailure(call, "kind and apiVersion must be those of a Scale", object);
}

function isScale({ apiVersion, kind }: JsonObject): boolean {
  return apiVersion === "autoscaling/v1" && kind === "Scale";
}

function missing(specReplicas: readonly string[]): Failure {
  return internalFailure(`the spec replicas field ".${specReplicas.join(".")}" does not exist`);
}

function withValue(
  object: JsonObject,
  [name = "", ...rest]: readonly string[],
  value: unknown,
): JsonObject {
  const below = object[name];
  const next = rest.length === 0 ? value : withValue(isObject(below) ? below : {}, rest, value);
  return { ...object, [name]: next };
}
