import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PGlite } from "@electric-sql/pglite";

// `initdb` takes most of the CPU of these tests. Its result is kept on disk under the version of PGlite.

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const FOLDER = pathOf("../node_modules/.cache/");

/** The file with the result of `initdb`. */
function kept(): string {
  const manifest = pathOf("../node_modules/@electric-sql/pglite/package.json");
  return `${FOLDER}pglite-${JSON.parse(readFileSync(manifest, "utf8")).version}.tar`;
}

/** A new PGlite, in memory or in a folder. */
export async function startPGlite(folder?: string): Promise<PGlite> {
  const file = kept();
  if (existsSync(file))
    return await PGlite.create(folder, { loadDataDir: new Blob([readFileSync(file)]) });
  const pglite = await PGlite.create(folder);
  const made = await pglite.dumpDataDir("none");
  mkdirSync(FOLDER, { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, new Uint8Array(await made.arrayBuffer()));
  renameSync(unfinished, file);
  return pglite;
}

/** The PGlite of this worker. To start another takes a second of CPU. */
let shared: PGlite | undefined;

/**
 * The PostgreSQL of this worker, in memory, emptied: without tables, listeners or settings. Each call takes
 * it away from the caller before. `close()` does nothing, for the next test file uses the same one.
 */
export async function emptyPGlite(): Promise<PGlite> {
  shared ??= Object.assign(await startPGlite(), { close: async () => undefined });
  await shared.exec("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
  await shared.exec("DISCARD ALL");
  return shared;
}
