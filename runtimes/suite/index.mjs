// The suite that every runtime runs: no test framework, no shim, nothing of a platform.
import { abilities } from "./abilities.mjs";
import { clockChecks } from "./clock.mjs";
import { controllerChecks } from "./controller.mjs";
import { rxjsChecks } from "./rxjs.mjs";
import { waitChecks } from "./wait.mjs";

const checks = { ...clockChecks, ...waitChecks, ...controllerChecks, ...rxjsChecks };

/**
 * Runs every check, and prints each result as a line of JSON: `{ check, error? }`, `{ ability, value }`,
 * and at last `{ checks }`, the number of all.
 *
 * A check that hangs ends with its program: workerd allows 10,000 timers, and one check uses them all.
 *
 * @param {(line: string) => void} print
 */
export async function runSuite(print) {
  const entries = Object.entries(checks);
  for (const [check, run] of entries) {
    const error = await errorOf(run);
    print(JSON.stringify({ check, error }));
  }
  for (const [ability, ask] of Object.entries(abilities))
    print(JSON.stringify({ ability, value: await ask() }));
  print(JSON.stringify({ checks: entries.length }));
}

/** @returns {Promise<string | undefined>} */
async function errorOf(run) {
  try {
    await run();
  } catch (error) {
    return error instanceof Error ? `${error.stack}` : `${error}`;
  }
  return undefined;
}
