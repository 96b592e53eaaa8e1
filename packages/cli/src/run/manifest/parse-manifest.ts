import { dirname, resolve } from "node:path";
import { readText } from "@holdfast/kit/node";
import { locator } from "./locate.ts";
import type { Manifest } from "./manifest.ts";
import type { ManifestError } from "./manifest-error.ts";
import { type ManifestIssue, manifestIssues } from "./manifest-issue.ts";
import { manifestSchema } from "./manifest-schema.ts";
import { type Flaw, readYaml, type Yaml } from "./read-yaml.ts";
import { resolveManifest, type TextOf } from "./resolve-manifest.ts";

/** A manifest that can be run, or everything that keeps it from being one. */
export type ParsedManifest =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly errors: readonly ManifestError[] };

type Interpreted = { readonly manifest: Manifest } | { readonly issues: readonly ManifestIssue[] };

function interpret(yaml: Yaml, directory: string, textOf: TextOf): Interpreted {
  let root: unknown;
  try {
    root = yaml.value();
  } catch (error) {
    const message = `not valid YAML: ${(error as Error).message}`;
    return { issues: [{ path: [], at: "value", message }] };
  }
  const checked = manifestSchema.safeParse(root);
  if (!checked.success)
    return { issues: checked.error.issues.flatMap((issue) => manifestIssues(issue, root)) };
  const { manifest, issues } = resolveManifest(checked.data, directory, textOf);
  return issues.length > 0 ? { issues } : { manifest };
}

/**
 * Reads a manifest. Nothing is thrown for a broken one: all that is wrong comes back at once, each
 * with its line, in the order of the lines.
 *
 * @param text - the YAML
 * @param file - where it came from; named in errors, and relative paths start in its directory
 */
export function parseManifest(
  text: string,
  file: string,
  textOf: TextOf = readText,
): ParsedManifest {
  const yaml = readYaml(text);
  const lines = text.split(/\r?\n/);
  const reject = (flaws: readonly Flaw[]): ParsedManifest => {
    const ordered = flaws.toSorted((a, b) => a.offset - b.offset);
    const errors = ordered.map(({ offset, message }) => {
      const { line, col } = yaml.counter.linePos(offset);
      return { file, line, column: col, message, source: lines[line - 1] ?? "" };
    });
    return { ok: false, errors };
  };

  if (yaml.flaws.length > 0) return reject(yaml.flaws);
  const result = interpret(yaml, dirname(resolve(file)), textOf);
  if ("manifest" in result) return { ok: true, manifest: result.manifest };
  const locate = locator(yaml);
  return reject(
    result.issues.map(({ path, at, message }) => ({ offset: locate(path, at), message })),
  );
}
