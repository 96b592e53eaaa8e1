// Makes a fresh clone ready: installs what pnpm-lock.yaml says with the pnpm that package.json pins.
// Needs only Node and npm. Does nothing when node_modules already matches.
//
// `node tools/ready.mjs` installs everything. `node tools/ready.mjs programs` installs what the examples need
// to be built and run: the `dependencies`, and no `devDependencies`, which are for tests and checks.
// This file and its imports keep to old syntax, so that an old Node gets as far as its refusal.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { registryEnv } from "./registry-env.mjs";
import { registryProblem } from "./registry-problem.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

// `npm install` leads here by the script "postinstall", which pnpm runs too, when it has installed everything.
const { npm_lifecycle_event: event, npm_config_user_agent: agent = "" } = process.env;
if (event === "postinstall" && agent.startsWith("pnpm/")) process.exit();

const { engines, packageManager: pinned } = JSON.parse(readFileSync("package.json", "utf8"));
// Behind the version stands the hash of the tarball.
const [packageManager, pin = ""] = pinned.split("+sha512.");
if (isBelow(process.versions.node, engines.node)) {
  console.error(`Holdfast needs Node ${engines.node}; this is ${process.versions.node}.`);
  process.exit(1);
}

const PROGRAMS = [
  "--prod",
  "--filter=tools",
  "--filter=@holdfast/cli...",
  "--filter=@holdfast/examples...",
  "--filter=@holdfast/conformance...",
];

const stamp = "node_modules/.ready";
/** npm writes it in every installation, and removes the links of pnpm in node_modules before. */
const traceOfNpm = "node_modules/.package-lock.json";
const asked = process.argv[2] === "programs" ? "programs" : "all";
const packages = [
  "bench",
  "conformance",
  "runtimes",
  "services",
  "test",
  "tools",
  ...readdirSync("packages").map((name) => `packages/${name}`),
].filter((folder) => existsSync(`${folder}/package.json`));
const wanted = fingerprint();
const present = installed();
if (present.fingerprint !== wanted || (present.kind !== "all" && present.kind !== asked)) {
  // Where everything was once installed, everything is brought up to date: a program takes no tool away.
  const kind = present.kind === "all" ? "all" : asked;
  await install(kind);
  writeFileSync(stamp, `${kind} ${wanted}`);
}

/**
 * @param {string} version - such as 20.18.1
 * @param {string} range - such as >=20.19
 */
function isBelow(version, range) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = range.replace(">=", "").split(".").map(Number);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

/** Changes whenever another set of dependencies is asked for. */
function fingerprint() {
  const hash = createHash("sha256").update(
    `${process.versions.node.split(".")[0]} ${process.platform} ${process.arch}`,
  );
  const manifests = packages.map((folder) => `${folder}/package.json`);
  for (const file of ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", ...manifests])
    hash.update(readFileSync(file));
  return hash.digest("hex");
}

/** What is there, and its fingerprint if it is there whole. */
function installed() {
  if (existsSync(traceOfNpm)) rmSync("node_modules", { recursive: true, force: true });
  const [kind = "", found] = existsSync(stamp) ? readFileSync(stamp, "utf8").split(" ") : [];
  const isWhole = packages
    .filter((folder) => kind !== "programs" || /^packages\/(cli|examples)$/.test(folder))
    .filter((folder) =>
      /"(devD|d)ependencies"/.test(readFileSync(`${folder}/package.json`, "utf8")),
    )
    .every((folder) => existsSync(`${folder}/node_modules`));
  return { kind, fingerprint: isWhole ? found : undefined };
}

async function install(kind) {
  rmSync(stamp, { force: true });
  console.log(`Installing dependencies with ${packageManager}, once until the lockfile changes…`);
  const problem = await registryProblem();
  if (problem !== undefined) console.error(`${problem} Trying the packages on this machine…`);
  const isAway = problem !== undefined;
  const flags = isAway ? ["--prefer-offline", "--fetch-timeout=5000"] : [];
  const npmFlags = isAway ? [...flags, "--fetch-retries=0"] : [];
  const pnpmFlags = isAway ? [...flags, "--config.fetch-retries=0"] : [];
  requirePinned(npmFlags);
  const { status, stdout, stderr } = spawnSync(
    "npx",
    [
      "--yes",
      ...npmFlags,
      packageManager,
      "install",
      "--frozen-lockfile",
      ...(kind === "programs" ? PROGRAMS : []),
      ...pnpmFlags,
    ],
    {
      env: registryEnv(),
      stdio: ["ignore", "pipe", "pipe"],
      encoding: "utf8",
      shell: process.platform === "win32",
    },
  );
  if (status !== 0) {
    console.error(`${stdout}${stderr}\nThe installation failed; see the output of pnpm above.`);
    process.exit(1);
  }
  mkdirSync("node_modules", { recursive: true });
}

/**
 * npx takes what the registry, or npm's cache, calls this version: it has to be what was pinned.
 *
 * @param {string[]} flags - for npm: where it looks, and how long
 */
function requirePinned(flags) {
  const args = ["view", packageManager, "dist.integrity", ...flags];
  const { stdout } = spawnSync("npm", args, {
    env: registryEnv(),
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  const wanted = `sha512-${Buffer.from(pin, "hex").toString("base64")}`;
  const found = stdout.trim();
  if (found === wanted) return;
  console.error(
    found === ""
      ? `The hash of ${packageManager} is not known here, and cannot be compared with package.json: try again with a registry.`
      : `The registry has another ${packageManager} than package.json pins: ${stdout}`,
  );
  process.exit(1);
}
