import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes pictures, keyed by file name, and returns their paths. */
export function writePictures(directory: string, pictures: ReadonlyMap<string, string>): string[] {
  mkdirSync(directory, { recursive: true });
  return [...pictures].map(([name, svg]) => {
    const file = join(directory, name);
    writeFileSync(file, svg);
    return file;
  });
}
