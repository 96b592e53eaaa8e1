// Runs tests that need servers: starts the servers, runs vitest, and stops all that was started, however it ends.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { UnavailableError } from "./apiserver/run-program.mjs";

const VITEST = fileURLToPath(new URL("../tools/vitest.mjs", import.meta.url));
const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

/**
 * @typedef {object} Suite
 * @property {string} config of vitest
 * @property {string[]} args for vitest
 * @property {(signal: AbortSignal, keep: (server: AsyncDisposable) => void) => Promise<Record<string, string>>} start
 * starts the servers, hands each to `keep`, and resolves with the environment of the tests
 *
 * @param {Suite} suite
 */
export async function runSuite({ config, args, start }) {
  process.chdir(fileURLToPath(new URL("..", import.meta.url)));
  const began = performance.now();
  const stop = stopOnSignals();
  /** @type {AsyncDisposable[]} */
  const running = [];
  const roll = mkdtempSync(join(tmpdir(), "holdfast-roll-"));
  try {
    const variables = await start(stop, (server) => running.push(server));
    const env = { ...process.env, ...variables, HOLDFAST_SERVICES_ROLL: roll };
    const code = await runTests(["--config", config, ...args], env, stop);
    process.exitCode ||= code;
  } catch (error) {
    report(error, stop);
  } finally {
    await Promise.all(running.map((server) => server[Symbol.asyncDispose]()));
    killLeftovers(roll);
    console.log(`${running.length} servers stopped. ${seconds(began)} in all.`);
  }
}

/** @param {number} since */
export function seconds(since) {
  return `${((performance.now() - since) / 1_000).toFixed(1)} s`;
}

function stopOnSignals() {
  const stop = new AbortController();
  for (const [signal, number] of Object.entries(NUMBERS))
    process.on(signal, () => {
      process.exitCode = 128 + number;
      console.log(`\n${signal}: stopping the started servers.`);
      stop.abort(new Error(signal));
    });
  return stop.signal;
}

/**
 * A server that cannot be had here is no failure: the tests count as not run.
 *
 * @param {unknown} error
 * @param {AbortSignal} stop
 */
function report(error, stop) {
  const { message } = /** @type {Error} */ (error);
  if (error instanceof UnavailableError) {
    console.log(`NOT RUN: ${message}`);
    return;
  }
  if (!stop.aborted) console.error(message);
  process.exitCode ||= 1;
}

/**
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @param {AbortSignal} signal
 * @returns the exit code
 */
async function runTests(args, env, signal) {
  signal.throwIfAborted();
  const tests = spawn(process.execPath, [VITEST, "run", ...args], {
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

/**
 * Kills the servers of tests that were killed themselves, and removes their directories.
 *
 * @param {string} roll
 */
function killLeftovers(roll) {
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
