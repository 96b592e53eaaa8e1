import { isObject, type JsonObject, own, propertiesOf } from "@holdfast/kit/kubernetes";

/** Fields that every embedded object has. */
const OF_OBJECTS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** What a copy leaves out. */
type Task = "unknown fields" | "nulls";

/** A copy of a value without the fields that its structural schema lacks, as a server stores it. */
export function pruned(value: unknown, schema: JsonObject): unknown {
  return copied(value, schema, "unknown fields");
}

/** A copy of a value without null where its structural schema does not allow it. */
export function withoutNulls(value: unknown, schema: JsonObject): unknown {
  return copied(value, schema, "nulls");
}

function copied(value: unknown, schema: JsonObject, task: Task): unknown {
  const { items, additionalProperties: others } = schema;
  if (Array.isArray(value))
    return value.map((item: unknown) => copied(item, isObject(items) ? items : {}, task));
  if (!isObject(value)) return value;
  const fields = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const known = own(propertiesOf(schema), name) ?? others;
    if (isObject(known))
      return task === "nulls" && isUnset(member, known)
        ? []
        : [[name, copied(member, known, task)]];
    return task === "nulls" || isOpenFor(schema, name) ? [[name, structuredClone(member)]] : [];
  });
  return Object.fromEntries(fields);
}

function isOpenFor(schema: JsonObject, name: string): boolean {
  return (
    schema["x-kubernetes-preserve-unknown-fields"] === true ||
    schema["additionalProperties"] === true ||
    (schema["x-kubernetes-embedded-resource"] === true && OF_OBJECTS.has(name))
  );
}

/** Whether a value is null where no null is allowed. */
function isUnset(value: unknown, schema: JsonObject): boolean {
  const isTyped =
    own(schema, "type") !== undefined || own(schema, "x-kubernetes-int-or-string") === true;
  return value === null && isTyped && schema["nullable"] !== true;
}
