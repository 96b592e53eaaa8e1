// `npm run pack:matrix`: packs the packages, serves the tarballs as a registry would, installs them with
// each package manager, alone and together, and uses them as users do. One line for each result.
//
// Arguments choose package managers by the start of their names: `npm run pack:matrix -- npm bun`.
// `times` alone measures imports only. `--tarballs FOLDER` takes those of tools/tarballs.mjs and packs nothing.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { publicPackages } from "../packages.mjs";
import { packInto, tarballOf } from "../tarballs.mjs";
import { entriesOf, loadAlone } from "./alone.mjs";
import { importTimes } from "./import-times.mjs";
import { managers } from "./managers.mjs";
import { serve } from "./registry.mjs";
import { RUNNER_PACKAGES, runnerChecks, writeRunners } from "./runners.mjs";
import { typeChecks, typescriptAliases, writePrograms } from "./type-checks.mjs";

process.chdir(fileURLToPath(new URL("../..", import.meta.url)));

const { values: options, positionals: names } = parseArgs({
  options: { tarballs: { type: "string" } },
  allowPositionals: true,
});
const isTimesOnly = names.join() === "times";
const folder = mkdtempSync(join(tmpdir(), "pack-matrix-"));
const packages = publicPackages();
const entries = packages.flatMap(({ manifest }) => entriesOf(manifest));
let failures = 0;
let results = 0;
let registry;
try {
  const tarballs = options.tarballs ?? mkdtempSync(join(folder, "tarballs-"));
  if (options.tarballs === undefined) packInto(tarballs, packages);
  registry = await serve(packages.map(({ manifest }) => tarballOf(tarballs, manifest)));
  const chosen = managers(join(folder, "caches")).filter(({ name }) =>
    isTimesOnly
      ? name.startsWith("npm")
      : names.length === 0 || names.some((start) => name.startsWith(start)),
  );
  for (const manager of chosen) await tryManager(manager, registry.url);
} finally {
  registry?.close();
  rmSync(folder, { recursive: true });
}
console.log(`\n${results - failures} of ${results} passed`);
process.exitCode = results > 0 && failures === 0 ? 0 : 1;

async function tryManager(manager, url) {
  if (!isTimesOnly) for (const each of packages) await tryAlone(manager, url, each.manifest);
  await tryTogether(manager, url);
}

async function tryAlone(manager, url, manifest) {
  const home = join(folder, manager.name, manifest.name);
  await line(`${manager.name}  alone     ${manifest.name}`, async () => {
    writeManifest(home, { [manifest.name]: manifest.version });
    await manager.install(home, url);
    return loadAlone(home, manifest);
  });
}

/** Every package with its peers, every TypeScript, and the test runners in one project. */
async function tryTogether(manager, url) {
  const home = join(folder, manager.name, "together");
  const own = packages.map(({ manifest: { name, version } }) => [name, version]);
  const peers = packages.map(({ manifest }) => manifest.peerDependencies);
  const isInstalled = await line(`${manager.name}  together  install`, async () => {
    writeManifest(home, {
      ...Object.assign({}, ...peers),
      ...Object.fromEntries(own),
      ...(isTimesOnly ? {} : { ...typescriptAliases(), ...RUNNER_PACKAGES }),
    });
    await manager.install(home, url);
    return `${own.length} packages with their peers`;
  });
  if (!isInstalled) return;
  if (!isTimesOnly) {
    writePrograms(home, entries);
    writeRunners(home);
    for (const { name, check } of [...runnerChecks, ...typeChecks()])
      await line(`${manager.name}  together  ${name}`, () => check(home));
  }
  if (manager.name.startsWith("npm")) {
    console.log(
      "\nimport(), each in a process of its own, beside an empty module (medians of processor time):",
    );
    for (const time of await importTimes(home, entries)) console.log(time);
    console.log("");
  }
}

function writeManifest(home, dependencies) {
  mkdirSync(home, { recursive: true });
  const manifest = { name: "consumer", version: "1.0.0", private: true, dependencies };
  writeFileSync(join(home, "package.json"), JSON.stringify(manifest));
}

/** Prints one result. */
async function line(name, attempt) {
  results += 1;
  try {
    console.log(`passed  ${name}: ${await attempt()}`);
    return true;
  } catch (error) {
    failures += 1;
    console.log(`FAILED  ${name}\n${/** @type {Error} */ (error).message}`);
    return false;
  }
}
