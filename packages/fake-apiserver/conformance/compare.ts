// Compares two normal forms.
import type { Json } from "./normal-form.ts";
import { isUncompared, type Uncompared } from "./script.ts";

/**
 * The differences between a recording and the answers of another server, a line for each.
 *
 * @param recorded - normal form of the recording
 * @param given - normal form of the answers
 * @param uncompared - parts to leave out
 */
export function differences(
  recorded: Json,
  given: Json,
  uncompared: readonly Uncompared[] = [],
): string[] {
  return [...compare(recorded, given, { path: [], uncompared })];
}

interface Place {
  readonly path: readonly string[];
  readonly uncompared: readonly Uncompared[];
}

function* compare(
  recorded: Json | undefined,
  given: Json | undefined,
  place: Place,
): Generator<string> {
  const { path, uncompared } = place;
  if (isUncompared(path, uncompared)) return;
  if (!isObject(recorded) || !isObject(given) || Array.isArray(recorded) !== Array.isArray(given)) {
    if (recorded !== given)
      yield `${path.join(".") || "all"}: recorded ${show(recorded)}, given ${show(given)}`;
    return;
  }
  for (const name of new Set([...Object.keys(recorded), ...Object.keys(given)]))
    yield* compare(own(recorded, name), own(given, name), { path: [...path, name], uncompared });
}

function isObject(value: Json | undefined): value is { [name: string]: Json } | Json[] {
  return typeof value === "object" && value !== null;
}

function own(value: { [name: string]: Json } | Json[], name: string): Json | undefined {
  return Object.hasOwn(value, name) ? (value as { [name: string]: Json })[name] : undefined;
}

function show(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
