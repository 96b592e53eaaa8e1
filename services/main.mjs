// `npm run test:services`: the tests that need a real PostgreSQL, Redis and RabbitMQ.
//
// Installs their packages if they are missing, starts each on a free port of the loopback interface
// with a directory of its own, runs the tests, and stops what it started, however it ends. A server
// that DATABASE_URL, REDIS_URL or AMQP_URL names is used instead. Arguments go to vitest.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { requirePackages } from "./packages.mjs";
import { PostgresServer } from "./postgres.mjs";
import { RabbitServer } from "./rabbitmq.mjs";
import { RedisServer } from "./redis.mjs";

const VITEST = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

const services = /** @type {const} */ ([
  { name: "PostgreSQL", variable: "DATABASE_URL", start: PostgresServer.start },
  { name: "Redis", variable: "REDIS_URL", start: RedisServer.start },
  { name: "RabbitMQ", variable: "AMQP_URL", start: RabbitServer.start },
]);

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const began = performance.now();
const stop = new AbortController();
for (const [signal, number] of Object.entries(NUMBERS))
  process.on(signal, () => {
    process.exitCode = 128 + number;
    console.log(`\n${signal}: stopping what was started.`);
    stop.abort(new Error(signal));
  });

/** @type {AsyncDisposable[]} */
const running = [];
const roll = mkdtempSync(join(tmpdir(), "holdfast-roll-"));
try {
  // The tests start servers of their own beside those that are named.
  await requirePackages(["postgresql", "redis-server", "rabbitmq-server"], stop.signal);
  const urls = await startServices(stop.signal);
  const code = await runTests(urls, stop.signal);
  process.exitCode ||= code;
} catch (error) {
  if (!stop.signal.aborted) console.error(/** @type {Error} */ (error).message);
  process.exitCode ||= 1;
} finally {
  await Promise.all(running.map((server) => server[Symbol.asyncDispose]()));
  killLeftovers();
  const count = running.length;
  console.log(`${count} servers stopped. ${seconds(began)} in all.`);
}

/** Starts what is not there, all at once, and says where each is. */
async function startServices(signal) {
  const entries = services.map(async ({ name, variable, start }) => {
    const given = process.env[variable];
    if (given) {
      console.log(`${name.padEnd(10)}  as ${variable} says`);
      return [variable, given];
    }
    const since = performance.now();
    const server = await start(signal);
    running.push(server);
    console.log(`${name.padEnd(10)}  ready in ${seconds(since)} on ${server.url}`);
    return [variable, server.url];
  });
  const settled = await Promise.allSettled(entries);
  for (const outcome of settled) if (outcome.status === "rejected") throw outcome.reason;
  return Object.fromEntries(await Promise.all(entries));
}

/** @returns the exit code */
async function runTests(urls, signal) {
  signal.throwIfAborted();
  const args = [VITEST, "run", "--config", "vitest.services.config.ts", ...process.argv.slice(2)];
  const env = { ...process.env, ...urls, HOLDFAST_SERVICES_ROLL: roll };
  const tests = spawn(process.execPath, args, {
    env,
    detached: true,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const end = () => killGroup(tests.pid ?? Number.NaN);
  signal.addEventListener("abort", end, { once: true });
  const [code] = await once(tests, "exit");
  signal.removeEventListener("abort", end);
  return code ?? 1;
}

/** What tests had started that were killed themselves. */
function killLeftovers() {
  for (const name of readdirSync(roll)) {
    if (/^\d+$/.test(name)) killGroup(Number(name));
    rmSync(readFileSync(join(roll, name), "utf8"), {
      recursive: true,
      force: true,
      maxRetries: 5,
    });
  }
  rmSync(roll, { recursive: true });
}

/** @param {number} leader */
function killGroup(leader) {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // It has ended since.
  }
}

/** @param {number} since */
function seconds(since) {
  return `${((performance.now() - since) / 1_000).toFixed(1)} s`;
}
