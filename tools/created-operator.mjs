// The project that `npm create @holdfast/operator` makes, as a newcomer meets it: from the packed tarballs, in an
// empty folder, with its own commands.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readJson, run } from "./packages.mjs";
import { tarballOf } from "./tarballs.mjs";

/**
 * @param {{ manifest: any }[]} packages
 * @param {string} tarballs the folder that `packInto` left them in
 */
export function checkCreatedOperator(packages, tarballs) {
  const folder = mkdtempSync(join(tmpdir(), "packcheck-created-"));
  try {
    const fileOf = (name) => {
      const found = packages.find(({ manifest }) => manifest.name === name);
      return `file:${tarballOf(tarballs, found?.manifest)}`;
    };
    const creator = join(folder, "creator");
    mkdirSync(creator);
    writeFileSync(join(creator, "package.json"), "{}");
    run(
      "npm",
      ["install", "--no-audit", "--no-fund", fileOf("@holdfast/create-operator")],
      creator,
    );
    run(join(creator, "node_modules/.bin/create-operator"), ["backup-operator"], folder);

    const project = join(folder, "backup-operator");
    const manifest = readJson(join(project, "package.json"));
    // The versions of the tarballs are on no registry.
    for (const name of ["clock", "wait", "controller", "kubernetes"])
      manifest.dependencies[`@holdfast/${name}`] = fileOf(`@holdfast/${name}`);
    writeFileSync(join(project, "package.json"), JSON.stringify(manifest));
    run("npm", ["install", "--no-audit", "--no-fund"], project);
    run("npm", ["test"], project);
    run("npm", ["run", "build"], project);
    run("npm", ["run", "manifests", "--", "--check"], project);
    const role = readFileSync(join(project, "deploy/role.yaml"), "utf8");
    run("npm", ["run", "role"], project);
    if (readFileSync(join(project, "deploy/role.yaml"), "utf8") !== role)
      throw new Error("the template's deploy/role.yaml is not what `npm run role` writes");
    console.log("npm create @holdfast/operator makes a project whose tests and manifests hold");
  } finally {
    rmSync(folder, { recursive: true });
  }
}
