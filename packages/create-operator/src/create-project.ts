import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Names } from "./names.ts";

const TEMPLATE = fileURLToPath(new URL("../template", import.meta.url));

/** Files that npm would leave out of a package, or read as its own, under names that it does not know. */
const RENAMED: { readonly [name: string]: string } = {
  gitignore: ".gitignore",
  dockerignore: ".dockerignore",
};

/**
 * Copies the template into a folder with the values in place of their marks.
 *
 * @throws Error if the folder has files
 */
export async function createProject(
  folder: string,
  values: Names & { readonly version: string },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length > 0) throw new Error(`the folder ${folder} is not empty`);
  const fill = (text: string) =>
    text.replace(/__([A-Z]+)__/g, (mark, key: string) => {
      const value = Object.entries(values).find(([name]) => name === key.toLowerCase())?.[1];
      return value ?? mark;
    });
  const entries = await readdir(TEMPLATE, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const source = join(entry.parentPath, entry.name);
    const name = fill(RENAMED[entry.name] ?? entry.name);
    const target = join(folder, entry.parentPath.slice(TEMPLATE.length), name);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, fill(await readFile(source, "utf8")));
  }
}
