// Makes a fresh clone ready: installs what pnpm-lock.yaml says with the pnpm that package.json pins.
// Needs only Node and npm. Does nothing when node_modules already matches.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { registryEnv } from "./registry-env.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const stamp = "node_modules/.ready";
const packages = [
  "bench",
  "conformance",
  "runtimes",
  "services",
  ...readdirSync("packages").map((name) => `packages/${name}`),
].filter((folder) => existsSync(`${folder}/package.json`));
const wanted = fingerprint();
if (installed() !== wanted) {
  install();
  writeFileSync(stamp, wanted);
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

/** The fingerprint of what is there, if it is there whole. */
function installed() {
  const complete = packages
    .filter((folder) =>
      /"(devD|d)ependencies"/.test(readFileSync(`${folder}/package.json`, "utf8")),
    )
    .every((folder) => existsSync(`${folder}/node_modules`));
  return complete && existsSync(stamp) ? readFileSync(stamp, "utf8") : "nothing";
}

function install() {
  rmSync(stamp, { force: true });
  const pnpm = JSON.parse(readFileSync("package.json", "utf8")).packageManager;
  console.log(`Installing dependencies with ${pnpm}, once until the lockfile changes…`);
  const { status, stdout, stderr } = spawnSync(
    "npx",
    ["--yes", pnpm, "install", "--frozen-lockfile", "--trust-lockfile"],
    {
      env: registryEnv(),
      stdio: ["ignore", "pipe", "pipe"],
      encoding: "utf8",
      shell: process.platform === "win32",
    },
  );
  if (status !== 0) {
    console.error(`${stdout}${stderr}\nThe installation failed; what pnpm said is above.`);
    process.exit(1);
  }
  mkdirSync("node_modules", { recursive: true });
}
