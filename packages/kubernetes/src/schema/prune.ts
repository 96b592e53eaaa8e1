import { isObject, type JsonObject, own, propertiesOf } from "@holdfast/kit/kubernetes";

/** Fields that every embedded object has. */
const OF_OBJECTS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** Called with the path of a field that a copy leaves out, such as `.spec.ports[0].more`. */
export type OnPruned = (path: string) => void;

/** What a copy leaves out: fields that the schema lacks, or null where it is not allowed. */
interface Task {
  readonly isForNulls: boolean;
  readonly onPruned?: OnPruned | undefined;
}

/** A copy of a value without the fields that its structural schema lacks, as a server stores it. */
export function pruned(value: unknown, schema: JsonObject, onPruned?: OnPruned): unknown {
  return copied(value, schema, "", { isForNulls: false, onPruned });
}

/** A copy of a value without null where its structural schema does not allow it. */
export function withoutNulls(value: unknown, schema: JsonObject): unknown {
  return copied(value, schema, "", { isForNulls: true });
}

function copied(value: unknown, schema: JsonObject, path: string, task: Task): unknown {
  const { items, additionalProperties: others } = schema;
  if (Array.isArray(value))
    return value.map((item: unknown, index) =>
      copied(item, isObject(items) ? items : {}, `${path}[${index}]`, task),
    );
  if (!isObject(value)) return value;
  const { isForNulls, onPruned } = task;
  const fields = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    if (member === undefined) return [];
    const known = own(propertiesOf(schema), name) ?? others;
    const at = `${path}.${name}`;
    if (isObject(known))
      return isForNulls && isUnset(member, known) ? [] : [[name, copied(member, known, at, task)]];
    if (isForNulls || isOpenFor(schema, name)) return [[name, structuredClone(member)]];
    onPruned?.(at);
    return [];
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
