import { statSync } from "node:fs";
import { type ReadFileOptions, readText } from "@holdfast/kit/node";
import { type ParsedManifest, parseManifest } from "./parse-manifest.ts";

/** A manifest as {@link parseManifest} returns it, or why its file cannot be read. */
export type ReadManifest = ParsedManifest | { readonly ok: false; readonly message: string };

function explain(file: string, error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return `${file} does not exist: create it or correct the name`;
  if (error.code === "EISDIR") return `${file} is a directory: name the file in it`;
  if (error.code === "EACCES") return `${file} may not be read: try chmod +r`;
  return `${file} cannot be read: ${error.message}`;
}

/**
 * @param file - the manifest; `-` for stdin, which can be read once
 * @param options - by default pipes are read, too
 */
export function readManifest(
  file: string,
  options: ReadFileOptions = { pipes: true },
): ReadManifest {
  let text: string;
  try {
    text = readText(file === "-" ? 0 : file, options);
  } catch (error) {
    return { ok: false, message: explain(file, error as NodeJS.ErrnoException) };
  }
  return parseManifest(text, file);
}

/** Whether a manifest is stdin or a pipe, as of `<(…)` in a shell: it can be read once, and does not change. */
export function isReadOnce(file: string): boolean {
  if (file === "-") return true;
  const found = statSync(file, { throwIfNoEntry: false });
  return found !== undefined && (found.isFIFO() || found.isCharacterDevice() || found.isSocket());
}
