// Builds a Kubernetes API server from Debian's packages of its libraries, and takes etcd and kubectl from
// there; from the same packages the benchmark's rivals on client-go. Needs no root and installs nothing: apt-get
// works in folders of its own, and knows nothing but the newest Debian. The result stays in the user's cache, where every clone with the same sources finds it.
import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { claimSite } from "./building-site.mjs";
import { runProgram, UnavailableError } from "./run-program.mjs";

const PACKAGES = fileURLToPath(new URL("packages.txt", import.meta.url));
const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

/**
 * Programs that are compiled together.
 *
 * @typedef {object} Recipe
 * @property {Record<string, string>} programs the folder of the sources of each
 * @property {string} title
 * @property {string} cache name of the folder in the cache
 * @property {string[]} packaged programs of packages that belong to it
 * @property {string} next what to do when it cannot be built
 */

/** Programs of packages that only the API server needs, and their packages. */
const PACKAGED = { etcd: "etcd-server", kubectl: "kubectl" };

const REPAIR =
  "if a download failed, name a mirror in DEBIAN_MIRROR; if a package is gone or does not compile, Debian sid has moved on: adapt services/apiserver/packages.txt and the Go sources beside it";

/** @type {Recipe} */
const API_SERVER = {
  programs: { devapi: fileURLToPath(new URL("devapi", import.meta.url)) },
  title: "the Kubernetes API server",
  cache: "apiserver",
  packaged: Object.keys(PACKAGED),
  next: `${REPAIR}; then run npm run apiserver again. KUBECONFIG lets npm run test:cluster use another cluster.`,
};

/** @type {Recipe} */
const CLIENT_GO = {
  programs: {
    informer: fileURLToPath(new URL("informer", import.meta.url)),
    operator: fileURLToPath(new URL("operator", import.meta.url)),
    queue: fileURLToPath(new URL("../../bench/go", import.meta.url)),
  },
  title: "the informer, the operator and the work queue of client-go",
  cache: "client-go",
  packaged: [],
  next: `${REPAIR}; then run npm run apiserver -- --client-go again. npm run bench runs without them.`,
};

/**
 * @typedef {object} Programs
 * @property {string} devapi path of the API server
 * @property {string} etcd
 * @property {string} kubectl
 * @property {string} version of the API server's library
 */

/**
 * @typedef {object} Rivals
 * @property {string} informer path of the program that syncs an informer
 * @property {string} operator
 * @property {string} queue
 * @property {string} version of client-go and of Go
 */

/**
 * The programs, built if they are not there yet. A build takes five to ten minutes; another process that needs
 * the same build waits for it.
 *
 * @param {AbortSignal} [signal] ends a build and removes what it has made
 * @param {(line: string) => void} [log]
 * @returns {Promise<Programs>}
 * @throws UnavailableError if they cannot be built here
 */
export async function apiServerPrograms(signal, log = console.log) {
  const folder = await folderOf(API_SERVER, { signal, log });
  const version = readFileSync(join(folder, "VERSIONS"), "utf8").split("\n", 1)[0] ?? "";
  const [devapi, etcd, kubectl] = ["devapi", "etcd", "kubectl"].map((name) => join(folder, name));
  return /** @type {Programs} */ ({ devapi, etcd, kubectl, version });
}

/**
 * The benchmark's rivals on client-go, built if they are not there yet, as {@link apiServerPrograms} are.
 *
 * @param {AbortSignal} [signal] ends a build and removes what it has made
 * @param {(line: string) => void} [log]
 * @returns {Promise<Rivals>}
 * @throws UnavailableError if they cannot be built here
 */
export async function clientGoPrograms(signal, log = console.log) {
  const folder = await folderOf(CLIENT_GO, { signal, log });
  const versions = readFileSync(join(folder, "VERSIONS"), "utf8");
  const version = [...versions.matchAll(/^golang-(?:k8s-client-go-dev|[\d.]+-go) .*$/gm)].join(
    ", ",
  );
  const [informer, operator, queue] = ["informer", "operator", "queue"].map((name) =>
    join(folder, name),
  );
  return /** @type {Rivals} */ ({ informer, operator, queue, version });
}

/** The folder of the programs of the API server, in the cache, for its sources and this list of packages. */
export function programsFolder() {
  return cacheOf(API_SERVER);
}

/** Whether the API server is built, and whether the rivals on client-go are: a benchmark builds neither. */
export function built() {
  return { apiServer: isBuilt(cacheOf(API_SERVER)), clientGo: isBuilt(cacheOf(CLIENT_GO)) };
}

/** @param {Recipe} recipe */
function cacheOf(recipe) {
  return join(cacheFolder(), recipe.cache, fingerprint(Object.values(recipe.programs)));
}

/**
 * @param {Recipe} recipe
 * @param {Surroundings} surroundings
 */
async function folderOf(recipe, surroundings) {
  const folder = cacheOf(recipe);
  if (!isBuilt(folder)) await buildOnce(recipe, folder, surroundings);
  return folder;
}

/** HOLDFAST_CACHE, or the user's cache, or a folder of the repository if the user has none. */
function cacheFolder() {
  const named = process.env["HOLDFAST_CACHE"];
  if (named) return named;
  const ofUser = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "holdfast");
  try {
    mkdirSync(ofUser, { recursive: true });
    accessSync(ofUser, constants.W_OK);
    return ofUser;
  } catch {
    return join(REPOSITORY, ".cache");
  }
}

/**
 * Changes whenever another program would be built.
 *
 * @param {string[]} sources
 */
function fingerprint(sources) {
  const hash = createHash("sha256").update(process.arch).update(readFileSync(PACKAGES));
  for (const source of sources)
    for (const name of readdirSync(source).sort())
      hash.update(name).update(readFileSync(join(source, name)));
  return hash.digest("hex").slice(0, 16);
}

/** @param {string} folder */
function isBuilt(folder) {
  return existsSync(join(folder, "VERSIONS"));
}

/**
 * @typedef {{ signal?: AbortSignal | undefined, log: (line: string) => void }} Surroundings
 * @param {Recipe} recipe
 * @param {string} folder
 * @param {Surroundings} surroundings
 */
async function buildOnce(recipe, folder, { signal, log }) {
  const site = `${folder}.building`;
  mkdirSync(dirname(site), { recursive: true });
  for (let told = false; !claimSite(site); told = true) {
    if (!told) log(`Waiting for ${recipe.title}: it is being built by another process.`);
    await sleep(1_000, undefined, { signal });
    if (isBuilt(folder)) return;
  }
  try {
    if (isBuilt(folder)) return;
    await build(recipe, site, { signal, log });
    renameSync(join(site, "out"), folder);
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    const { title, next } = recipe;
    throw new UnavailableError(error.reason, { title, next, cause: error });
  } finally {
    rmSync(site, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * @param {Recipe} recipe
 * @param {string} site
 * @param {Surroundings} surroundings
 */
async function build(recipe, site, { signal, log }) {
  const began = Date.now();
  const run = (
    /** @type {string[]} */ command,
    /** @type {import("./run-program.mjs").RunOptions} */ options = {},
  ) => runProgram(command, { ...options, signal });
  const step = (/** @type {string} */ text) =>
    log(`  ${String(Math.round((Date.now() - began) / 1_000)).padStart(4)} s  ${text}`);
  log(`Building ${recipe.title}: five to ten minutes, once until its sources change.`);

  step("reading Debian's index of packages");
  const env = aptEnvironment(site, await debianMirror(run));
  await run(["apt-get", "update", "-qq", "-o", "APT::Update::Error-Mode=any"], { env });

  const names = packagesOf(recipe);
  step(`downloading ${names.length} packages, up to 110 MB`);
  const debs = join(site, "debs");
  mkdirSync(debs);
  await run(["apt-get", "download", "-qq", ...names], { env, cwd: debs });

  step("unpacking them");
  const versions = [];
  for (const file of readdirSync(debs).sort()) {
    await run(["dpkg-deb", "-x", join(debs, file), join(site, "root")]);
    versions.push(decodeURIComponent(file.replace(/_[^_]*\.deb$/, "").replace("_", " ")));
  }

  step(`compiling ${recipe.title}`);
  mkdirSync(join(site, "out"));
  await compile(recipe, site, { run, step });

  for (const name of recipe.packaged)
    copyFileSync(join(site, "root/usr/bin", name), join(site, "out", name));
  const library = versions.find((line) => line.startsWith("golang-k8s-apiserver-dev "));
  writeFileSync(join(site, "out/VERSIONS"), `${[library, ...versions].join("\n")}\n`);
  step("built");
}

/** @param {Recipe} recipe */
function packagesOf({ packaged }) {
  const left = Object.entries(PACKAGED).filter(([name]) => !packaged.includes(name));
  const unneeded = new Set(left.map(([, name]) => name));
  const all = readFileSync(PACKAGES, "utf8").trim().split("\n");
  return all.filter((name) => !unneeded.has(name));
}

/**
 * The environment of an apt-get that neither reads nor writes what the machine's own one uses.
 *
 * @param {string} site
 * @param {string} mirror
 */
function aptEnvironment(site, mirror) {
  const apt = join(site, "apt");
  for (const folder of ["lists/partial", "cache/archives/partial", "sources"])
    mkdirSync(join(apt, folder), { recursive: true });
  writeFileSync(
    join(apt, "sources/sid.sources"),
    `Types: deb\nURIs: ${mirror}\nSuites: sid\nComponents: main\nSigned-By: ${KEYRING}\n`,
  );
  writeFileSync(join(apt, "status"), "");
  const settings = {
    "Dir::Etc::SourceList": "/dev/null",
    "Dir::Etc::SourceParts": join(apt, "sources"),
    "Dir::Etc::Preferences": "/dev/null",
    "Dir::Etc::PreferencesParts": "/dev/null",
    "Dir::State::Lists": join(apt, "lists"),
    "Dir::State::Status": join(apt, "status"),
    "Dir::Cache": join(apt, "cache"),
    "Acquire::Languages": "none",
    "Acquire::Retries": "3",
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} "${value}";\n`);
  const file = join(apt, "apt.conf");
  writeFileSync(file, lines.join(""));
  return { APT_CONFIG: file };
}

/** The mirror from which this machine's own packages come. */
async function debianMirror(run) {
  const named = process.env["DEBIAN_MIRROR"];
  if (named) return named;
  const known = await run(["apt-get", "indextargets", "--format", "$(REPO_URI)"]);
  const mirror = known.split("\n").find((uri) => /\/debian\/?$/.test(uri));
  if (mirror === undefined)
    throw new UnavailableError("apt-get has no mirror of Debian here; name one with DEBIAN_MIRROR");
  return mirror;
}

/** Compiles in GOPATH mode: without modules, their proxy, cgo, or another toolchain. */
async function compile({ programs }, site, { run, step }) {
  const roots = readdirSync(join(site, "root/usr/lib")).filter((name) => name.startsWith("go-"));
  const root = join(site, "root/usr/lib", roots[0] ?? "go");
  const env = {
    HOME: site,
    GO111MODULE: "off",
    GOTOOLCHAIN: "local",
    GOENV: "off",
    GOFLAGS: "-p=2", // a third compiler would need a third gigabyte
    CGO_ENABLED: "0",
    GOROOT: root,
    GOPATH: join(site, "root/usr/share/gocode"),
    GOCACHE: process.env["GOCACHE"] || join(site, "gocache"),
  };
  const go = join(root, "bin/go");
  for (const [program, source] of Object.entries(programs)) {
    const all = (await run([go, "list", "-deps", "."], { env, cwd: source })).trim().split("\n");
    let compiled = 0;
    const report = setInterval(
      () => step(`compiled ${compiled} of ${all.length} packages`),
      15_000,
    );
    try {
      const output = join(site, "out", program);
      await run([go, "build", "-v", "-trimpath", "-ldflags=-s -w", "-o", output, "."], {
        env,
        cwd: source,
        onOutput: (text) => {
          compiled += text.split("\n").length - 1;
        },
      });
    } finally {
      clearInterval(report);
    }
  }
}
