import { readFileSync } from "node:fs";
import { type ParsedManifest, parseManifest } from "./parse-manifest.ts";

/** A manifest as {@link parseManifest} returns it, or why its file cannot be read. */
export type ReadManifest = ParsedManifest | { readonly ok: false; readonly message: string };

function explain(file: string, error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return `${file} does not exist: create it or correct --file`;
  if (error.code === "EISDIR") return `${file} is a directory: name the file in it with --file`;
  if (error.code === "EACCES") return `${file} may not be read: try chmod +r`;
  return `${file} cannot be read: ${error.message}`;
}

export function readManifest(file: string): ReadManifest {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return { ok: false, message: explain(file, error as NodeJS.ErrnoException) };
  }
  return parseManifest(text, file);
}
