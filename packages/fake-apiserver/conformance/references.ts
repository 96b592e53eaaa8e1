// Fills the references of a step in: `$(id.path)` and `$(namespace)`.
import type { Answer } from "./script.ts";

const REFERENCE = /\$\(([^)]+)\)/g;

/** Values that references name. */
export interface Known {
  readonly namespace: string;
  readonly answers: ReadonlyMap<string, Answer>;
}

/**
 * A copy of a value with every reference in its strings replaced.
 *
 * @throws Error for a reference to a step or a field that does not exist
 */
export function resolveReferences<T>(value: T, known: Known): T {
  if (typeof value === "string")
    return value.replace(REFERENCE, (_, path: string) => lookUp(path, known)) as T;
  if (Array.isArray(value)) return value.map((one) => resolveReferences(one, known)) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, one]) => [name, resolveReferences(one, known)]);
  return Object.fromEntries(entries);
}

function lookUp(path: string, { namespace, answers }: Known): string {
  if (path === "namespace") return namespace;
  const [id = "", ...names] = path.split(".");
  const answer = answers.get(id);
  if (answer === undefined) throw new Error(`$(${path}): no earlier step has the id ${id}`);
  let value: unknown = names[0] === "events" ? answer : answer.body;
  for (const name of names) value = (value as Record<string, unknown> | undefined)?.[name];
  if (typeof value !== "string" && typeof value !== "number")
    throw new Error(`$(${path}): expected a string or a number, got ${JSON.stringify(value)}`);
  return String(value);
}
