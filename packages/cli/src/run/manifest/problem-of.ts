import { printable } from "../../printable.ts";
import { formatManifestErrors, formatManifestErrorWithSource } from "./manifest-error.ts";
import type { ReadManifest } from "./read-manifest.ts";

/** What is wrong with a manifest, with its lines, for a terminal; undefined if it can be run. */
export function problemOf(read: ReadManifest, file: string): string | undefined {
  if (read.ok)
    return read.manifest.processes.size > 0
      ? undefined
      : printable(`${file}: there is no process to run`);
  if ("errors" in read)
    return formatManifestErrors(read.errors, formatManifestErrorWithSource).join("\n");
  return printable(read.message);
}
