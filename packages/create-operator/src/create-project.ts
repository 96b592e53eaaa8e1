import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Names } from "./names.ts";

const TEMPLATE = fileURLToPath(new URL("../template", import.meta.url));

/** Files that npm would leave out of a package, or read as its own, under names that it does not know. */
const RENAMED: { readonly [name: string]: string } = {
  gitignore: ".gitignore",
  dockerignore: ".dockerignore",
};

/** A file of the template: its place in a project, and its text, both with marks. */
interface TemplateFile {
  readonly place: string;
  readonly text: string;
}

async function readTemplate(): Promise<readonly TemplateFile[]> {
  const entries = await readdir(TEMPLATE, { recursive: true, withFileTypes: true });
  return await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ parentPath, name }) => ({
        place: join(parentPath.slice(TEMPLATE.length), RENAMED[name] ?? name),
        text: await readFile(join(parentPath, name), "utf8"),
      })),
  );
}

/**
 * The name of the resource in the code: the kind, or `RegistryResource` for a kind `Registry` if that name has another
 * meaning there, in the template or in JavaScript.
 */
function resourceIn(template: readonly TemplateFile[], kind: string): string {
  const code = template.filter(({ place }) => place.endsWith(".ts")).map(({ text }) => text);
  const words = new Set(code.join("\n").match(/\w+/g));
  return words.has(kind) || kind in globalThis ? `${kind}Resource` : kind;
}

/** npm installs no package in a package of its name. */
function requireOwnName(template: readonly TemplateFile[], own: string): void {
  const manifest = template.find(({ place }) => basename(place) === "package.json")?.text ?? "{}";
  const { dependencies, devDependencies } = JSON.parse(manifest) as Record<string, object>;
  if (!Object.hasOwn({ ...dependencies, ...devDependencies }, own)) return;
  throw new RangeError(`NAME must not be that of a package of the project, got "${own}"`);
}

/**
 * Copies the template into a folder with the values in place of their marks.
 *
 * @throws Error if the folder has files, RangeError if the name is that of a package of the project
 */
export async function createProject(
  folder: string,
  names: Names & { readonly version: string },
): Promise<void> {
  const template = await readTemplate();
  requireOwnName(template, names.name);
  const values = { ...names, resource: resourceIn(template, names.kind) };
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length > 0) throw new Error(`the folder ${folder} is not empty`);
  const fill = (text: string) =>
    text.replace(/__([A-Z]+)__/g, (mark, key: string) => {
      const value = Object.entries(values).find(([name]) => name === key.toLowerCase())?.[1];
      return value ?? mark;
    });
  for (const { place, text } of template) {
    const target = join(folder, fill(place));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, fill(text));
  }
}
