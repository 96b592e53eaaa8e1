import { isEqual, isObject, type JsonObject, own } from "../object/json.ts";
import type { NormalForm } from "../server/normal-form.ts";

/** Names of the two sides of a difference, as in `after the crash` and `without it`. */
export interface Sides {
  readonly left: string;
  readonly right: string;
}

const MAX_LENGTH = 200;

/**
 * The differences of two states, one line each: objects that only one side has, and fields with two values.
 *
 * ```text
 * configmaps default/ann
 *   data.text: "Hello, Ann!" after the path, "Hello, Bob!" created anew
 * ```
 */
export function differenceOf(left: NormalForm, right: NormalForm, sides: Sides): string[] {
  const labels = [...new Set([...left.keys(), ...right.keys()])].sort();
  return labels.flatMap((label) => {
    const one = left.get(label);
    const other = right.get(label);
    if (one === undefined) return [`${label}: only ${sides.right}`, `  ${shown(other)}`];
    if (other === undefined) return [`${label}: only ${sides.left}`, `  ${shown(one)}`];
    const fields = [...fieldDifferences(one, other, "", sides)];
    return fields.length === 0 ? [] : [label, ...fields.map((line) => `  ${line}`)];
  });
}

/** The fields that differ, a line each. */
export function* fieldDifferences(
  left: unknown,
  right: unknown,
  path: string,
  sides: Sides,
): Generator<string> {
  if (isEqual(left, right)) return;
  const names = namesOf(left, right);
  if (names === undefined) {
    yield `${path}: ${shown(left)} ${sides.left}, ${shown(right)} ${sides.right}`;
    return;
  }
  for (const name of names) {
    const isList = Array.isArray(left);
    const below = isList ? `${path}[${name}]` : `${path}${path && "."}${name}`;
    const [one, other] = [left, right].map((side) => own(side as JsonObject, name));
    yield* fieldDifferences(one, other, below, sides);
  }
}

/** The fields of two objects, or the indexes of two lists. Undefined for other values. */
function namesOf(left: unknown, right: unknown): string[] | undefined {
  const areAlike =
    (isObject(left) && isObject(right)) || (Array.isArray(left) && Array.isArray(right));
  if (!areAlike) return undefined;
  return [...new Set([...Object.keys(left as object), ...Object.keys(right as object)])];
}

function shown(value: unknown): string {
  if (value === undefined) return "absent";
  const text = JSON.stringify(value);
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}…`;
}
