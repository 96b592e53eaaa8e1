import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The file that says what the others should be, as `sha256sum` writes it. */
export const CHECKSUMS = "SHA256SUMS";

/** The names of the files that are not what `SHA256SUMS` says; without that file there are none. */
export function alteredFiles(directory: string): string[] {
  if (!existsSync(join(directory, CHECKSUMS))) return [];
  const lines = readFileSync(join(directory, CHECKSUMS), "utf8").trim().split("\n");
  return lines.flatMap((line) => {
    const [wanted, name = ""] = line.split(/\s+\*?/);
    return sha256(join(directory, name)) === wanted ? [] : name;
  });
}

function sha256(path: string): string {
  if (!existsSync(path)) return "missing";
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}
