import { type Cause, goText, goType, wrong } from "../../object/cause.ts";
import { isObject, type JsonObject, own, valueAt } from "../../object/json.ts";
import type { ScalePaths } from "../resource/served-resource.ts";

const MAX_REPLICAS = 2 ** 31 - 1;

/** Replicas and a selector that the subresource `scale` could not show: the server checks them in every write. */
export function* scaleCauses(
  { specReplicas, statusReplicas, selector }: ScalePaths,
  object: JsonObject,
  subresource: string | undefined,
): Generator<Cause> {
  if (subresource !== "status") yield* countCauses(object, specReplicas);
  yield* countCauses(object, statusReplicas);
  if (selector !== undefined) yield* accessCauses(object, selector, "string", "");
}

function* countCauses(object: JsonObject, path: readonly string[]): Generator<Cause> {
  yield* accessCauses(object, path, "int64", 0);
  const count = valueAt(object, path);
  if (!Number.isInteger(count)) return;
  const field = `.${path.join(".")}`;
  if (Number(count) < 0) yield wrong(field, count, "should be a non-negative integer");
  if (Number(count) > MAX_REPLICAS)
    yield wrong(field, count, `should be less than or equal to ${MAX_REPLICAS}`);
}

/** A value of another type than `expected`, or one on the way to it that has no fields. */
function* accessCauses(
  object: JsonObject,
  path: readonly string[],
  expected: "int64" | "string",
  none: unknown,
): Generator<Cause> {
  const field = `.${path.join(".")}`;
  let value: unknown = object;
  for (const [depth, name] of path.entries()) {
    value = isObject(value) ? own(value, name) : undefined;
    const isLast = depth === path.length - 1;
    if (value === undefined || (value === null && !isLast)) return;
    const wanted = isLast ? expected : MAP;
    const type = goType(value);
    if (type === wanted) continue;
    const form = `${goText(value)} is of the type ${type}, expected ${wanted.replace(" ", "")}`;
    yield wrong(field, none, `${field} accessor error: ${form}`);
    return;
  }
}

const MAP = "map[string]interface {}";
