import type { z } from "zod";

/** A mistake in a value of the manifest, before its line is known. */
export interface ManifestIssue {
  readonly path: readonly PropertyKey[];
  /** Which side of the entry at `path` is wrong. */
  readonly at: "key" | "value";
  readonly message: string;
}

/** A path as a reader writes it: `processes.web.args[1]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "the manifest";
  return path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .slice(1);
}

function show(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  return JSON.stringify(value);
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((node, key) => {
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined;
    return (node as Record<PropertyKey, unknown>)[key];
  }, root);
}

/** Describes an issue of the schema in a sentence: the actual and the expected value. */
export function manifestIssues(issue: z.core.$ZodIssue, root: unknown): ManifestIssue[] {
  const { path, message } = issue;
  const subject = formatPath(path);
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => {
      const unknown = formatPath([...path, key]);
      const sentence = `${unknown} is an unknown key; expected ${message}`;
      return { path: [...path, key], at: "key", message: sentence };
    });
  if (issue.code === "invalid_key")
    return issue.issues.map(({ message: expected }) => {
      return { path, at: "key", message: `${subject} is not a usable name; expected ${expected}` };
    });
  const value = valueAt(root, path);
  const shown = value === undefined ? "missing" : show(value);
  return [{ path, at: "value", message: `${subject} is ${shown}; expected ${message}` }];
}
