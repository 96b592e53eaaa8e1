// Reads the output of the suite, and prints the table.

/**
 * @typedef {object} Result
 * @property {string} name
 * @property {string} version
 * @property {number} passed - number of checks
 * @property {string[]} failures
 * @property {number} seconds
 * @property {string} [notRun] - why the runtime did not start
 */

/**
 * @param {import("./list.mjs").Runtime} runtime
 * @param {import("./list.mjs").Outcome} outcome
 * @returns {{ passed: number, failures: string[] }}
 */
export function failuresOf({ abilities }, { lines, errors, exits }) {
  const results = lines.filter((line) => line.startsWith('{"')).map((line) => JSON.parse(line));
  const checks = results.filter(({ check }) => check !== undefined);
  const passed = checks.filter(({ error }) => error === undefined).length;
  const failures = checks
    .filter(({ error }) => error !== undefined)
    .map(({ check, error }) => `failed: ${check}\n  ${error}`);
  const actual = { exits };
  for (const { ability, value } of results) if (ability !== undefined) actual[ability] = value;
  for (const [ability, expected] of Object.entries(abilities))
    if (actual[ability] !== expected)
      failures.push(`failed: ${ability} is ${actual[ability]}, runtimes/list.mjs says ${expected}`);
  if (results.at(-1)?.checks !== checks.length || checks.length === 0)
    failures.push(["failed: the suite did not end", ...lines.slice(-5), ...errors].join("\n  "));
  return { passed, failures };
}

/** @param {readonly Result[]} results */
export function table(results) {
  const rows = results.map(({ name, version, passed, failures, seconds, notRun }) => {
    const failed = failures.length === 0 ? "" : `, ${failures.length} FAILED`;
    const checks = notRun === undefined ? `${passed} passed${failed}` : `not run: ${notRun}`;
    return [name, version, `${seconds.toFixed(1)} s`, checks];
  });
  const all = [["runtime", "version", "time", "checks"], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "))
    .join("\n");
}
