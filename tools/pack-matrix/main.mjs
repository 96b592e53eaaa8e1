// `npm run pack:matrix`: packs the packages, serves the tarballs as a registry would, installs them with
// each package manager, alone and together, and uses them as users do. One line for each result.
//
// Arguments choose package managers by the start of their names: `npm run pack:matrix -- npm bun`.
// `--tarballs FOLDER` takes those of tools/tarballs.mjs and packs nothing.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readArguments } from "../arguments.mjs";
import { entriesOf, publicPackages } from "../packages.mjs";
import { serve } from "../registry.mjs";
import { packInto, tarballOf } from "../tarballs.mjs";
import { loadAlone } from "./alone.mjs";
import { managers } from "./managers.mjs";
import { CONFIG, chosenIn, optionsOf, usageOf } from "./options.mjs";
import { projects } from "./projects.mjs";

process.chdir(fileURLToPath(new URL("../..", import.meta.url)));

const all = managers();
const { tarballs: given, starts } = readArguments(usageOf(all), CONFIG, (parsed) =>
  optionsOf(parsed, all),
);
const folder = mkdtempSync(join(tmpdir(), "pack-matrix-"));
const packages = publicPackages();
const entries = packages.flatMap(({ manifest }) => entriesOf(manifest).map(({ name }) => name));
const began = performance.now();
let failures = 0;
let results = 0;
let registry;
try {
  const tarballs = given ?? mkdtempSync(join(folder, "tarballs-"));
  if (given === undefined) packInto(tarballs, packages);
  registry = await serve(packages.map(({ manifest }) => tarballOf(tarballs, manifest)));
  for (const manager of chosenIn(all, starts)) await tryManager(manager, registry.url);
} finally {
  registry?.close();
  rmSync(folder, { recursive: true });
}
const minutes = ((performance.now() - began) / 60_000).toFixed(1);
console.log(`\n${results - failures} of ${results} passed in ${minutes} min`);
process.exitCode = results > 0 && failures === 0 ? 0 : 1;

async function tryManager(manager, url) {
  for (const { manifest } of packages) await tryAlone(manager, url, manifest);
  if (manager.plugAndPlay !== undefined) return;
  for (const project of projects) await tryProject(manager, url, project);
}

async function tryAlone(manager, url, manifest) {
  const home = join(folder, manager.name, manifest.name);
  await line(`${manager.name}  alone     ${manifest.name}`, async () => {
    await install(manager, url, home, { [manifest.name]: manifest.version });
    return loadAlone(home, manifest, manager.plugAndPlay);
  });
}

/** Every package with its peers, and what the project adds. */
async function tryProject(manager, url, { name, dependencies, resolutions, write, checks }) {
  const home = join(folder, manager.name, name);
  const label = `${manager.name}  ${name.padEnd(8)}`;
  const isInstalled = await line(`${label}  install`, async () => {
    const pins = manager.needsResolutions ? resolutions : {};
    await install(manager, url, home, { ...ownPackages(), ...dependencies }, pins);
    return `${packages.length} packages with their peers`;
  });
  if (!isInstalled) return;
  write(home, entries);
  for (const check of checks) await line(`${label}  ${check.name}`, () => check.check(home));
}

function ownPackages() {
  const own = packages.map(({ manifest: { name, version } }) => [name, version]);
  const peers = packages.map(({ manifest }) => manifest.peerDependencies);
  return { ...Object.assign({}, ...peers), ...Object.fromEntries(own) };
}

async function install(manager, url, home, dependencies, resolutions = {}) {
  mkdirSync(home, { recursive: true });
  const manifest = { name: "consumer", version: "1.0.0", private: true, dependencies, resolutions };
  writeFileSync(join(home, "package.json"), JSON.stringify(manifest));
  await manager.install(home, url, join(folder, "caches"));
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
