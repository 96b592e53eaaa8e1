import { isEqual, isObject, type JsonObject, own, propertiesOf } from "@holdfast/kit/kubernetes";

/** What makes an object of one schema another value under the other. */
const STRUCTURE = [
  ...["type", "nullable", "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"],
  ...["x-kubernetes-embedded-resource", "x-kubernetes-list-type", "x-kubernetes-list-map-keys"],
];

/** A field that two schemas have not alike. */
interface FieldDifference {
  readonly path: string;
  readonly reason: "only one" | "only other" | "differs";
}

/**
 * The fields that only one of two structural schemas has, and those that the two have not alike, by path: outer ones
 * before inner ones.
 */
export function* fieldDifferences(
  one: JsonObject,
  other: JsonObject,
  path = "",
): Generator<FieldDifference> {
  if (!STRUCTURE.every((name) => isEqual(own(one, name), own(other, name))))
    yield { path, reason: "differs" };
  const names = new Set([...Object.keys(propertiesOf(one)), ...Object.keys(propertiesOf(other))]);
  const pairs: [string, unknown, unknown][] = [...names].map((name) => [
    `${path}.${name}`,
    own(propertiesOf(one), name),
    own(propertiesOf(other), name),
  ]);
  for (const [name, suffix] of [["items", "[]"] as const, ["additionalProperties", ".*"] as const])
    pairs.push([`${path}${suffix}`, own(one, name), own(other, name)]);
  for (const [at, first, second] of pairs)
    if (isObject(first) && isObject(second)) yield* fieldDifferences(first, second, at);
    else if (isObject(first)) yield { path: at, reason: "only one" };
    else if (isObject(second)) yield { path: at, reason: "only other" };
}
