// `npm run test:runtimes`: one suite from the packed tarballs in every supported runtime.
//
// Arguments choose runtimes by the start of their names: `npm run test:runtimes -- Deno "Node 2"`. A runtime
// that cannot start counts as not run, with the reason. Exits with 1 if a check fails or nothing runs.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readArguments } from "../tools/arguments.mjs";
import { installInto, packInto } from "../tools/tarballs.mjs";
import { runtimes } from "./list.mjs";
import { NotRunError } from "./programs.mjs";
import { failuresOf, table } from "./report.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const all = runtimes.map(({ name }) => `  ${name}`).join("\n");
const usage = `npm run test:runtimes -- [starts of names] (default: all)\n${all}\n  --help`;
const names = readArguments(usage, { allowPositionals: true }, ({ positionals }) => {
  const unknown = positionals.find((start) => !runtimes.some(({ name }) => name.startsWith(start)));
  if (unknown !== undefined) throw new Error(`no runtime begins with "${unknown}"`);
  return positionals;
});
const chosen = runtimes.filter(
  ({ name }) => names.length === 0 || names.some((start) => name.startsWith(start)),
);
const folder = mkdtempSync(join(tmpdir(), "runtimes-"));
const results = [];
try {
  packInto(folder);
  installInto(folder);
  cpSync("runtimes/suite", join(folder, "suite"), { recursive: true });
  for (const runtime of chosen) results.push(await resultOf(runtime));
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`\n${table(results)}`);
const ran = results.filter(({ notRun }) => notRun === undefined);
process.exitCode = ran.length > 0 && ran.every(({ failures }) => failures.length === 0) ? 0 : 1;

/**
 * @param {import("./list.mjs").Runtime} runtime
 * @returns {Promise<import("./report.mjs").Result>}
 */
async function resultOf(runtime) {
  const { name } = runtime;
  console.log(`\n== ${name}`);
  const began = performance.now();
  try {
    const outcome = await runtime.run(folder);
    const { passed, failures } = failuresOf(runtime, outcome);
    for (const failure of failures) console.log(failure);
    const seconds = (performance.now() - began) / 1_000;
    return { name, version: outcome.version, passed, failures, seconds };
  } catch (error) {
    const seconds = (performance.now() - began) / 1_000;
    const reason = /** @type {Error} */ (error).message;
    console.log(reason);
    const result = { name, version: "", passed: 0, failures: [reason], seconds };
    return error instanceof NotRunError ? { ...result, failures: [], notRun: reason } : result;
  }
}
