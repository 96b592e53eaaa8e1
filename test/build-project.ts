import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bin, run } from "../tools/packages.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Compiles a project that create-operator has made, with the packages of this repository in place of an installation. */
export function buildProject(project: string): void {
  const modules = join(project, "node_modules");
  for (const name of ["@holdfast", "@types"]) mkdirSync(join(modules, name), { recursive: true });
  for (const name of ["clock", "controller", "fake-apiserver", "kubernetes"])
    symlinkSync(join(root, "packages", name), join(modules, "@holdfast", name), "dir");
  symlinkSync(join(root, "packages/kubernetes/node_modules/zod"), join(modules, "zod"), "dir");
  for (const name of ["@types/node", "prom-client", "vitest", "yaml"])
    symlinkSync(join(root, "node_modules", name), join(modules, name), "dir");
  run(bin("tsc"), [], project);
}
