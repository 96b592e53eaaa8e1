import { wrong } from "../../object/cause.ts";
import {
  defined,
  isObject,
  type JsonObject,
  metadataOf,
  parseJson,
  stringsOf,
  valueAt,
} from "../../object/json.ts";
import { badRequest, conflict } from "../failure.ts";
import { goForm } from "../patch/json-patch-operations.ts";
import type { ApiCall } from "../request/api-call.ts";
import { integerOf } from "../request/list-options.ts";
import { isTrue } from "../request/route.ts";
import type { AdmittedWrite, Objects } from "./objects.ts";
import { requireJson } from "./read-object.ts";
import { invalidOptions, type WriteOptions, writeOptionsOf } from "./write-options.ts";

/** Finalizers that stand for a propagation policy. */
const FOREGROUND = "foregroundDeletion";
const ORPHAN = "orphan";

/** Options of a delete request. */
export interface Deletion {
  readonly options: WriteOptions;
  readonly uid: unknown;
  readonly resourceVersion: unknown;
  readonly propagation: unknown;

  /** Whether `orphanDependents: false` asks for the deletion of dependents. */
  readonly keepsNone: boolean;
}

/** Parameters that a server takes from the body alone, if there is one. */
const IN_BODY = ["dryRun", "propagationPolicy", "orphanDependents"];

/**
 * Reads the body and the parameters of a delete.
 *
 * @throws Failure for a body that is not a `DeleteOptions`, and for an unknown propagation policy
 */
export function deletionOf(call: ApiCall): Deletion {
  const { body: text = "" } = call;
  if (text !== "") requireJson(call);
  const body = text === "" ? {} : readOptions(text);
  if (text === "") integerOf(call.query, "gracePeriodSeconds");
  else for (const name of IN_BODY) call.query.delete(name);
  for (const value of stringsOf(body["dryRun"])) call.query.append("dryRun", value);
  const propagation = propagationOf(body, call.query);
  const { uid, resourceVersion } = isObject(body["preconditions"]) ? body["preconditions"] : {};
  return {
    options: writeOptionsOf(call, "DeleteOptions"),
    uid,
    resourceVersion,
    propagation,
    keepsNone: propagation === undefined && orphansOf(body, call.query) === false,
  };
}

/** @throws Failure for a body that is no `DeleteOptions`, and for a member of another form */
function readOptions(text: string): JsonObject {
  const body = parseJson(text);
  if (!isObject(body)) {
    const problem =
      body === undefined
        ? `invalid character '${text.trimStart()[0]}' looking for beginning of value`
        : `json: cannot unmarshal ${goForm(body)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
    throw badRequest(`couldn't get version/kind; json parse error: ${problem}`);
  }
  const { kind, apiVersion } = body;
  if (typeof kind === "string" && kind !== "" && kind !== "DeleteOptions")
    throw badRequest(
      `converting (${apiVersion}.${kind}) to (v1.DeleteOptions): unknown conversion`,
    );
  for (const path of Object.keys(FORMS)) requireForm(path, valueAt(body, path.split(".")));
  return body;
}

function requireForm(path: string, value: unknown): void {
  const [type, isOfForm] = FORMS[path] as (typeof FORMS)[string];
  if (value === undefined || value === null || isOfForm(value)) return;
  const owner = path.includes(".") ? "Preconditions" : "DeleteOptions";
  throw badRequest(
    `json: cannot unmarshal ${goForm(value)} into Go struct field ${owner}.${path} of type ${type}`,
  );
}

/** The members of `DeleteOptions`, with their types in Go. */
const FORMS: Readonly<Record<string, readonly [string, (value: unknown) => boolean]>> = {
  gracePeriodSeconds: ["int64", Number.isInteger],
  orphanDependents: ["bool", (value) => typeof value === "boolean"],
  propagationPolicy: ["v1.DeletionPropagation", (value) => typeof value === "string"],
  dryRun: ["[]string", Array.isArray],
  "preconditions.uid": ["types.UID", (value) => typeof value === "string"],
  "preconditions.resourceVersion": ["string", (value) => typeof value === "string"],
};

function orphansOf(body: JsonObject, query: URLSearchParams): unknown {
  const text = query.get("orphanDependents");
  return body["orphanDependents"] ?? (text === null ? undefined : isTrue(text));
}

/** The propagation policy of a delete, also as `orphanDependents`, its older form. */
function propagationOf(body: JsonObject, query: URLSearchParams): unknown {
  const policy = body["propagationPolicy"] ?? query.get("propagationPolicy") ?? undefined;
  const orphans = orphansOf(body, query);
  if (policy === undefined) return orphans === true ? "Orphan" : undefined;
  if (orphans !== undefined) {
    const message = "orphanDependents and deletionPropagation cannot be both set";
    throw invalidOptions("DeleteOptions", [wrong("propagationPolicy", policy, message)]);
  }
  if (POLICIES.includes(policy)) return policy;
  const list = POLICIES.map((one) => JSON.stringify(one)).join(", ");
  const message = `Unsupported value: ${JSON.stringify(policy)}: supported values: ${list}, "nil"`;
  throw invalidOptions("DeleteOptions", [
    { reason: "FieldValueNotSupported", message, field: "propagationPolicy" },
  ]);
}

const POLICIES: readonly unknown[] = ["Foreground", "Background", "Orphan"];

/**
 * The write of a delete: it removes the object, or marks it if finalizers hold it back.
 *
 * @throws Failure if the object does not exist, or is not the one that the deletion names
 */
export async function admitDelete(
  objects: Objects,
  call: ApiCall,
  deletion: Deletion,
): Promise<AdmittedWrite> {
  const old = objects.get(call);
  const metadata = metadataOf(old);
  requirePreconditions(call, metadata, deletion);
  const { options, propagation, keepsNone } = deletion;
  // The deletion of a collection names no object.
  const reviewed = call.verb === "deletecollection" ? "" : call.name;
  const about = { name: reviewed, object: null, old } as const;
  const review = { operation: "DELETE", ...about, options, propagation } as const;
  await call.admission?.mutate(call, review, (object) => object);
  await call.admission?.validate(call, review);
  const finalizers = finalizersFor(stringsOf(metadata["finalizers"]), propagation);
  const write = { call, name: call.name, old, options };
  if (finalizers.length === 0) return { ...write, object: old, isRemoved: true, status: 200 };
  const object = { ...old, metadata: markedMetadata(metadata, finalizers, objects.now()) };
  // A server accepts a wish for dependents' deletion, and promises nothing.
  return { ...write, object, status: keepsNone ? 202 : 200 };
}

/** The metadata of an object that is being deleted. One that was marked already gets these finalizers. */
function markedMetadata(was: JsonObject, finalizers: readonly string[], now: string): JsonObject {
  const { generation, deletionTimestamp } = was;
  const isMarked = deletionTimestamp !== undefined;
  return defined({
    ...was,
    finalizers,
    generation: typeof generation === "number" && !isMarked ? generation + 1 : generation,
    deletionTimestamp: deletionTimestamp ?? now,
    deletionGracePeriodSeconds: 0,
  });
}

function requirePreconditions({ served, name }: ApiCall, metadata: JsonObject, wanted: Deletion) {
  const { uid, resourceVersion } = wanted;
  // The server names the kind here, not the plural.
  const subject = { group: served.group, plural: served.kind };
  if (uid !== undefined && uid !== metadata["uid"])
    throw conflict(
      subject,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata["uid"]}). The object might have been deleted and then recreated`,
    );
  if (resourceVersion !== undefined && resourceVersion !== metadata["resourceVersion"])
    throw conflict(
      subject,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata["resourceVersion"]}). The object might have been modified`,
    );
}

function finalizersFor(finalizers: readonly string[], propagation: unknown): string[] {
  if (propagation === undefined) return [...finalizers];
  const others = finalizers.filter((name) => name !== FOREGROUND && name !== ORPHAN);
  if (propagation === "Foreground") return [...others, FOREGROUND];
  return propagation === "Orphan" ? [...others, ORPHAN] : others;
}

/** The `Status` of a deletion that has removed its object. */
export function removedStatus({ call, object }: AdmittedWrite): JsonObject {
  const { group, plural } = call.served;
  const { name, uid } = metadataOf(object);
  const details = defined({ name, group: group || undefined, kind: plural, uid });
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}
