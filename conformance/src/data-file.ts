import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

const COMPRESSED = ".gz";

/** The content of a file of recorded data, which may be stored compressed, as `NAME.gz`. */
export function readData(directory: string, name: string): Buffer {
  const path = join(directory, name);
  return existsSync(path) ? readFileSync(path) : gunzipSync(readFileSync(path + COMPRESSED));
}

/** The names of the files of a directory, without the ending of compressed ones. None without the directory. */
export function namesOf(directory: string): string[] {
  const files = existsSync(directory) ? readdirSync(directory) : [];
  return files.map((name) =>
    name.endsWith(COMPRESSED) ? name.slice(0, -COMPRESSED.length) : name,
  );
}
