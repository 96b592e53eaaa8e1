import { formatSeconds } from "@holdfast/kit/kubernetes";
import type { KubeObject, Resource, StatusCondition, StoredObject } from "@holdfast/kubernetes";
import { type JsonObject, metadataOf, valueAt } from "../object/json.ts";
import type { FakeApi } from "../server/fake-api.ts";

const TYPE = "ExploredElsewhere";

const MANAGER = "another-controller";

type Conditioned = KubeObject & { status?: { conditions?: readonly StatusCondition[] } };

/** Whether several controllers may have conditions in the status of an object, each its own. */
export function hasSharedConditions({ crd, version }: Resource): boolean {
  const versions = valueAt(crd, ["spec", "versions"]);
  const manifest = Array.isArray(versions)
    ? versions.find((one) => valueAt(one, ["name"]) === version)
    : undefined;
  const path = ["schema", "openAPIV3Schema", "properties", "status", "properties", "conditions"];
  const keys = valueAt(manifest, [...path, "x-kubernetes-list-map-keys"]);
  return Array.isArray(keys) && keys.length === 1 && keys[0] === "type";
}

/** Writes a condition as another controller does. Resolves with the object; undefined if the server refuses it. */
export async function writeForeignCondition(
  { client }: FakeApi,
  resource: Resource,
  { name, namespace }: { readonly name: string; readonly namespace?: string },
  now: number,
): Promise<StoredObject<KubeObject> | undefined> {
  const condition = { type: TYPE, status: "True", reason: "Written", message: "" } as const;
  const conditions = [{ ...condition, lastTransitionTime: formatSeconds(now) }];
  const object = { metadata: { name, namespace }, status: { conditions } };
  const options = { subresource: "status", fieldManager: MANAGER };
  return await client
    .apply(resource as Resource<Conditioned>, object, options)
    .catch(() => undefined);
}

/** Whether an apply of the operator has named the condition of the other controller. */
export function sharesForeignCondition(object: JsonObject): boolean {
  const { managedFields } = metadataOf(object);
  const item = ["fieldsV1", "f:status", "f:conditions", `k:{"type":"${TYPE}"}`];
  return (
    Array.isArray(managedFields) &&
    managedFields.some(
      (entry) =>
        valueAt(entry, ["operation"]) === "Apply" &&
        valueAt(entry, ["manager"]) !== MANAGER &&
        valueAt(entry, item) !== undefined,
    )
  );
}

/** An object without the condition of the other controller. */
export function withoutForeignCondition<Stored extends KubeObject>(object: Stored): Stored {
  const { status, ...rest } = object as Stored & Conditioned;
  const conditions = valueAt(status, ["conditions"]);
  const others = Array.isArray(conditions)
    ? conditions.filter((one) => valueAt(one, ["type"]) !== TYPE)
    : [];
  if (!Array.isArray(conditions) || others.length === conditions.length) return object;
  const { conditions: _, ...plain } = status as NonNullable<Conditioned["status"]>;
  const left = others.length === 0 ? plain : { ...plain, conditions: others };
  return (Object.keys(left).length === 0 ? rest : { ...rest, status: left }) as Stored;
}
