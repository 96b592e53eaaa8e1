import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PGlite } from "@electric-sql/pglite";

// What `initdb` makes is the same each time and takes most of the CPU of these tests. It is kept, under
// the version of PGlite, and not on a build machine, which makes it anew.

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const FOLDER = pathOf("../../../../node_modules/.cache/");

/** The file of what `initdb` made. */
function kept(): string {
  const { dependencies } = JSON.parse(readFileSync(pathOf("../../package.json"), "utf8"));
  return `${FOLDER}pglite-${dependencies["@electric-sql/pglite"]}.tar`;
}

/** A PostgreSQL of its own, in memory, with nothing in it. */
export async function emptyPGlite(): Promise<PGlite> {
  if (process.env["CI"]) return await PGlite.create();
  const file = kept();
  if (existsSync(file)) return await PGlite.create({ loadDataDir: new Blob([readFileSync(file)]) });
  const pglite = await PGlite.create();
  const made = await pglite.dumpDataDir("none");
  mkdirSync(FOLDER, { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, new Uint8Array(await made.arrayBuffer()));
  renameSync(unfinished, file);
  return pglite;
}
