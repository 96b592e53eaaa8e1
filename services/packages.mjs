// Makes the programs of the servers available: from the packages of Debian and its kin.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { MARIADB_PROGRAM } from "./mariadb.mjs";
import { PgBouncer } from "./pgbouncer.mjs";
import { postgresPrograms } from "./postgres.mjs";
import { RABBITMQ_PROGRAM } from "./rabbitmq.mjs";

/** What asks on Debian whether a service may be started. */
const POLICY = "/usr/sbin/policy-rc.d";

/**
 * @typedef {"postgresql" | "pgbouncer" | "mariadb-server" | "redis-server" | "rabbitmq-server" | "nats-server" | "chromium"} Package
 * @type {Record<Package, () => boolean>}
 */
const isInstalled = {
  postgresql: () => postgresPrograms() !== undefined,
  pgbouncer: () => PgBouncer.isInstalled,
  "mariadb-server": () => existsSync(MARIADB_PROGRAM) && inPath("mariadb-install-db"),
  "redis-server": () => inPath("redis-server"),
  "rabbitmq-server": () => existsSync(RABBITMQ_PROGRAM) && inPath("epmd"),
  "nats-server": () => inPath("nats-server"),
  chromium: () =>
    Boolean(process.env["CHROMIUM_PATH"]) ||
    ["chromium", "chromium-browser", "google-chrome"].some(inPath),
};

/**
 * Installs those packages that are missing.
 *
 * @param {Package[]} packages
 * @param {AbortSignal} signal
 */
export async function requirePackages(packages, signal) {
  const missing = packages.filter((name) => !isInstalled[name]());
  if (missing.length === 0) return;
  const install = ["apt-get", "install", "--yes", "--no-install-recommends", ...missing];
  const byHand = `Install them, with: ${install.join(" ")}\nOr use your own: set DATABASE_URL, MYSQL_URL, REDIS_URL, AMQP_URL, CHROMIUM_PATH.`;
  const names = missing.join(", ");
  if (!inPath("apt-get"))
    throw new Error(`${names}: not installed, and there is no apt-get here.\n${byHand}`);
  if (process.getuid?.() !== 0)
    throw new Error(`${names}: not installed, and only root may install.\n${byHand}`);
  console.log(`Installing ${names}: this happens once.`);
  await withoutServices(async () => {
    await run(["apt-get", "update", "--quiet=2"], signal);
    await run([...install, "--quiet=2"], signal);
  });
  const still = missing.filter((name) => !isInstalled[name]());
  if (still.length > 0)
    throw new Error(
      `${still.join(", ")}: installed, but its programs are not in Debian's folders.`,
    );
}

/** An installation would start its service, on the port that everybody knows. */
async function withoutServices(install) {
  const isOurs = !existsSync(POLICY);
  if (isOurs) {
    writeFileSync(POLICY, "#!/bin/sh\nexit 101\n");
    chmodSync(POLICY, 0o755);
  }
  try {
    await install();
  } finally {
    if (isOurs) rmSync(POLICY);
  }
}

/**
 * @param {string[]} command
 * @param {AbortSignal} signal
 */
async function run([program = "", ...args], signal) {
  signal.throwIfAborted();
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  // A group of its own: Ctrl-C in the middle of an installation would leave half of it.
  const child = spawn(program, args, { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} failed:\n${output}`);
}

/** @param {string} program */
function inPath(program) {
  return spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
}
