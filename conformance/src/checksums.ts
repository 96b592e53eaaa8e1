import { createHash } from "node:crypto";
import { namesOf, readData } from "./data-file.ts";

/** The file that says what the others should be, as `sha256sum` writes it. */
export const CHECKSUMS = "SHA256SUMS";

/** The names of the files that are not what `SHA256SUMS` says; without that file there are none. */
export function alteredFiles(directory: string): string[] {
  const names = namesOf(directory);
  if (!names.includes(CHECKSUMS)) return [];
  const lines = readData(directory, CHECKSUMS).toString().trim().split("\n");
  return lines.flatMap((line) => {
    const [wanted, name = ""] = line.split(/\s+\*?/);
    return names.includes(name) && sha256(directory, name) === wanted ? [] : name;
  });
}

function sha256(directory: string, name: string): string {
  return createHash("sha256").update(readData(directory, name)).digest("hex");
}
