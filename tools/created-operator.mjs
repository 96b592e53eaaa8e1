// The project that `npm create @holdfast/operator` makes, as a newcomer meets it: in an empty folder, from a
// registry with the packed tarballs, with its own commands.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execute } from "./execute.mjs";
import { serve } from "./registry.mjs";
import { registryEnv } from "./registry-env.mjs";
import { tarballOf } from "./tarballs.mjs";

/**
 * @param {{ manifest: any }[]} packages
 * @param {string} tarballs the folder that `packInto` left them in
 */
export async function checkCreatedOperator(packages, tarballs) {
  const folder = mkdtempSync(join(tmpdir(), "packcheck-created-"));
  const registry = await serve(packages.map(({ manifest }) => tarballOf(tarballs, manifest)));
  // npx would take the create-operator of an earlier run, which has the same version.
  const env = { ...registryEnv(), npm_config_cache: join(folder, "cache") };
  const configure = (cwd) =>
    writeFileSync(join(cwd, ".npmrc"), `@holdfast:registry=${registry.url}\n`);
  const run = async (cwd, command) => {
    const { code, lines, errors } = await execute("sh", ["-c", command], { cwd, env });
    return { code, text: [...lines, ...errors].join("\n") };
  };
  const pass = async (cwd, command) => {
    const { code, text } = await run(cwd, command);
    if (code !== 0) throw new Error(`${text}\nfailed: ${command}`);
  };
  try {
    configure(folder);
    await pass(folder, "npm create --yes @holdfast/operator backup-operator");
    const project = join(folder, "backup-operator");
    configure(project);
    await pass(project, "npm install --no-audit --no-fund");
    await pass(project, "npm test");
    await pass(project, "npm run build");
    await pass(project, "npm run manifests -- --check");

    // As the Dockerfile does: the image holds dist and node_modules of a copy without tests.
    const image = join(folder, "image");
    await pass(
      project,
      `mkdir ../image && cp -R package.json package-lock.json .npmrc tsconfig.json src ../image`,
    );
    await pass(image, "rm src/*.test.ts");
    // `npm ci` refuses a lock file of `npm install` if an optional dependency of any package is missing in the registry, as
    // one of vite 8.4.0 was when it came out. `npm install` takes the same versions.
    const { code: clean } = await run(image, "npm ci --no-audit --no-fund");
    if (clean !== 0) await pass(image, "npm install --no-audit --no-fund");
    await pass(image, "npm run build && npm prune --omit=dev");
    const found = readdirSync(join(image, "dist")).filter((name) => !name.endsWith(".map"));
    if (found.sort().join() !== "operator.js,resource.js")
      throw new Error(`the image has other files in dist: ${found}`);
    // npm keeps yaml and cel-js, which are optional peers, too.
    for (const name of ["vitest", "typescript"])
      if (existsSync(join(image, "node_modules", name)))
        throw new Error(`the image has the development dependency ${name}`);
    await pass(image, `node -e 'import("./dist/operator.js")'`);

    const file = join(project, "deploy/role.yaml");
    const role = readFileSync(file, "utf8");
    writeFileSync(file, role.replace("      - patch\n", ""));
    const { code, text } = await run(project, "npm test");
    if (code === 0 || !/rights missing.*"configmaps".*"patch"/s.test(text))
      throw new Error(`${text}\nthe test of the project does not name a right that is missing`);
    await pass(project, "npm run role");
    if (readFileSync(file, "utf8") !== role)
      throw new Error("the template's deploy/role.yaml is not what `npm run role` writes");
    console.log("npm create @holdfast/operator makes a project whose tests and manifests hold");
  } finally {
    registry.close();
    rmSync(folder, { recursive: true });
  }
}
