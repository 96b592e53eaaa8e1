import type { OwnWrite } from "../cache/store.ts";
import type { ClientWrite } from "../client/client-write.ts";
import { readObject, type ServerObject } from "../object/server-object.ts";

/**
 * The state of the written object, by the response of the server. Undefined if the response has nothing for a
 * cache of the resource: after a dry run, or if it is of another kind, as that of the subresource `scale`.
 */
export function ownWriteOf(write: ClientWrite): OwnWrite | undefined {
  const { resource, verb, ref: name, dryRun, uid } = write;
  if (dryRun) return undefined;
  const response = write.response as { apiVersion?: unknown; kind?: unknown };
  const isOwnKind = response.kind === resource.kind && response.apiVersion === resource.apiVersion;
  if (!isOwnKind)
    return verb === "delete" && response.kind === "Status" && uid !== undefined
      ? { type: "gone", name, uid }
      : undefined;
  const object = readObject(response, resource.kind);
  return isGone(object, verb)
    ? { type: "gone", name: object.metadata, uid: object.metadata.uid }
    : { type: "stored", object };
}

/**
 * A deletion may be answered by the object as it last was, and so may a write that removes the last finalizer
 * of an object that is being deleted.
 */
function isGone({ kind, metadata, ...rest }: ServerObject, verb: ClientWrite["verb"]): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = metadata;
  if (deletionTimestamp === undefined) return verb === "delete";
  // A Namespace waits for finalizers in its spec.
  const { spec } = rest as { spec?: { finalizers?: readonly unknown[] } };
  const others = kind === "Namespace" ? (spec?.finalizers ?? []) : [];
  return finalizers.length + others.length === 0 && !(deletionGracePeriodSeconds > 0);
}
