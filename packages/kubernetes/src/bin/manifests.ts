import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { type Output, optional, requirePositionals, textOf } from "@holdfast/kit/node";
import { fromCrd } from "../object/custom-resource.ts";

/** `manifests MODULE... --out DIR [--check]` */
export async function manifests(args: string[], { print }: Output): Promise<0 | 1> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { out: { type: "string" }, check: { type: "boolean", default: false } },
  });
  const { out, check } = values;
  requirePositionals("MODULE", positionals);
  if (out === undefined) throw new RangeError("--out DIR is missing; see --help");
  const { stringify } = await optional("yaml", import("yaml"), "--save-dev ");
  const crds = await crdsOf(positionals);
  const files = [...crds].map(([name, crd]) => ({
    path: join(out, `${name}.yaml`),
    text: stringify(crd, { aliasDuplicateObjects: false }),
  }));
  if (check) return compared(files, print);
  await mkdir(out, { recursive: true });
  for (const { path, text } of files) await writeFile(path, text);
  print(files.map(({ path }) => `${path}\n`).join(""));
  return 0;
}

interface File {
  readonly path: string;
  readonly text: string;
}

function compared(files: readonly File[], print: Output["print"]): 0 | 1 {
  const problems: string[] = [];
  for (const { path, text } of files) {
    const found = existsSync(path) ? textOf(path, { pipes: false }) : undefined;
    if (found === undefined) problems.push(`${path} is missing`);
    else if (found !== text) problems.push(`${path} differs from its resource`);
  }
  print(problems.map((line) => `${line}\n`).join(""));
  return problems.length > 0 ? 1 : 0;
}

/** The CRDs of the resources that modules export, by name, which is PLURAL.GROUP. */
async function crdsOf(modules: readonly string[]): Promise<Map<string, object>> {
  const crds = new Map<string, object>();
  for (const module of modules) {
    const exported = Object.values(await load(module)).flatMap(crdOf);
    if (exported.length === 0) throw new Error(`${module} exports no resource with a CRD`);
    for (const crd of exported) {
      const { plural, group } = fromCrd(crd);
      const name = `${plural}.${group}`;
      if (crds.has(name) && !isDeepStrictEqual(crds.get(name), crd))
        throw new Error(`${module} exports a second CRD ${name} that differs`);
      crds.set(name, crd);
    }
  }
  return crds;
}

async function load(module: string): Promise<{ readonly [name: string]: unknown }> {
  try {
    return await import(pathToFileURL(resolve(module)).href);
  } catch (error) {
    throw new Error(
      `${module} cannot be imported: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function crdOf(exported: unknown): object[] {
  const crd = (exported as { crd?: { kind?: unknown } } | null | undefined)?.crd;
  return crd?.kind === "CustomResourceDefinition" ? [crd] : [];
}
