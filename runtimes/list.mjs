// The supported runtimes: how each is started, and which abilities it has. docs/runtimes.md shows this list.

import { runBundled, runProgram, runVite, runWorker } from "./hosts.mjs";
import { chromiumProgram, programOf } from "./programs.mjs";

/**
 * @typedef {object} Abilities
 * @property {boolean} hiddenAbort - another listener cannot delay an abort with `stopImmediatePropagation()`
 * @property {boolean} asyncContext - callbacks of timers keep their `AsyncLocalStorage` context
 * @property {boolean | undefined} exits - a process with only `ref: false` timers left ends; undefined
 * where there is no process
 *
 * @typedef {object} Outcome
 * @property {string} version - as the program names it
 * @property {string[]} lines - the output of the suite
 * @property {string[]} errors - all other output
 * @property {boolean} [exits]
 *
 * @typedef {object} Runtime
 * @property {string} name
 * @property {string} version - of the npm package
 * @property {Abilities} abilities
 * @property {(folder: string) => Promise<Outcome>} run - rejects with a NotRunError if it cannot start
 */

const DENO = "2.9.6";
const BUN = "1.4.5";
const WORKERD = "1.20261117.1";

const EVERYTHING = { hiddenAbort: true, asyncContext: true, exits: true };
const WORKER = { ...EVERYTHING, exits: undefined };
const PAGE = { hiddenAbort: true, asyncContext: false, exits: undefined };

/** @type {Runtime[]} */
export const runtimes = [
  ...["20.20.2", "22.23.3", "24.21.0", "26.10.0"].map((version) => ({
    name: `Node ${version.slice(0, 2)}`,
    version,
    abilities: EVERYTHING,
    run: async (folder) => runProgram(await programOf(`node@${version}`), [], folder),
  })),
  {
    name: "Deno",
    version: DENO,
    abilities: EVERYTHING,
    run: async (folder) => runProgram(await programOf(`deno@${DENO}`), ["run"], folder),
  },
  {
    name: "Bun",
    version: BUN,
    abilities: EVERYTHING,
    run: async (folder) => runProgram(await programOf(`bun@${BUN}`), ["run"], folder),
  },
  ...[true, false].map((hasNode) => ({
    name: `workerd ${hasNode ? "with" : "without"} nodejs_compat`,
    version: WORKERD,
    abilities: { ...WORKER, asyncContext: hasNode },
    run: async (folder) => runWorker(await programOf(`workerd@${WORKERD}`), hasNode, folder),
  })),
  {
    name: "Chromium, esbuild",
    version: "installed",
    abilities: PAGE,
    run: async (folder) => runBundled(chromiumProgram(), folder),
  },
  {
    name: "Chromium, Vite",
    version: "installed",
    abilities: PAGE,
    run: async (folder) => runVite(chromiumProgram(), folder),
  },
];
