import type { Random } from "@holdfast/wait";
import { defined, type JsonObject } from "../../object/json.ts";
import type { ApiCall, Reviewed } from "../request/api-call.ts";
import { asServed } from "../resource/normalize.ts";
import type { ServedResource } from "../resource/served-resource.ts";
import { madeUid } from "../write/made-uid.ts";

/**
 * The field `request` of an AdmissionReview.
 *
 * @param version - the version in which the webhook sees the objects
 */
export function requestOf(
  call: ApiCall,
  reviewed: Reviewed,
  version: ServedResource,
  random: Random,
): JsonObject {
  const { served, subresource, namespace, headers } = call;
  const { operation, object, old, name, options } = reviewed;
  const isScale = subresource === "scale";
  const seen = (one: JsonObject | null): JsonObject | null =>
    one === null || isScale ? one : asServed(version, one);
  return defined({
    uid: madeUid(random),
    kind: kindOf(version, isScale),
    resource: resourceOf(version),
    subResource: subresource,
    requestKind: kindOf(served, isScale),
    requestResource: resourceOf(served),
    requestSubResource: subresource,
    name: name || undefined,
    namespace,
    operation,
    userInfo: {
      username: headers["impersonate-user"] ?? "fake-api",
      groups: ["system:authenticated"],
    },
    object: seen(object),
    oldObject: seen(old),
    dryRun: options.isDryRun,
    options: optionsOf(reviewed, call.query),
  });
}

const OPTIONS: Readonly<Record<Reviewed["operation"], string>> = {
  CREATE: "CreateOptions",
  UPDATE: "UpdateOptions",
  DELETE: "DeleteOptions",
};

function optionsOf(
  { operation, options, propagation }: Reviewed,
  query: URLSearchParams,
): JsonObject {
  return defined({
    kind: OPTIONS[operation],
    apiVersion: "meta.k8s.io/v1",
    dryRun: options.isDryRun ? ["All"] : undefined,
    propagationPolicy: propagation,
    fieldManager: query.get("fieldManager") || undefined,
    fieldValidation: query.get("fieldValidation") || undefined,
  });
}

function kindOf({ group, version, kind }: ServedResource, isScale: boolean): JsonObject {
  return isScale
    ? { group: "autoscaling", version: "v1", kind: "Scale" }
    : { group, version, kind };
}

function resourceOf({ group, version, plural }: ServedResource): JsonObject {
  return { group, version, resource: plural };
}
