// What `import()` of each entry point takes in a process of its own, beside an empty module: processor time, which
// a machine that is busy with other things does not stretch.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runNode } from "./run-node.mjs";

const ROUNDS = 15;

/**
 * Measures all of them in turn, so that a busy machine slows each as much.
 *
 * @param {string} folder - where the packages are installed
 * @param {string[]} entries
 * @returns {Promise<string[]>} one line for each entry point
 */
export async function importTimes(folder, entries) {
  writeFileSync(join(folder, "empty.mjs"), "");
  const program =
    "const began = process.cpuUsage(); await import(process.argv[2]); " +
    "const { user, system } = process.cpuUsage(began); console.log((user + system) / 1_000);\n";
  writeFileSync(join(folder, "import-time.mjs"), program);
  const modules = ["./empty.mjs", ...entries];
  /** @type {Record<string, number[]>} */
  const times = Object.fromEntries(modules.map((module) => [module, []]));
  for (let round = 0; round < ROUNDS; round++)
    for (const module of modules) {
      const { code, lines, errors } = await runNode(folder, ["import-time.mjs", module]);
      if (code !== 0) throw new Error(errors.join("\n"));
      times[module]?.push(Number(lines[0]));
    }
  const empty = median(times["./empty.mjs"]);
  return Object.entries(times).map(([module, values]) => {
    const time = median(values);
    const ratio = (time / empty).toFixed(1).padStart(5);
    const difference = `+${(time - empty).toFixed(1)}`.padStart(6);
    return `${module.padEnd(34)} ${ratio} x  ${difference} ms`;
  });
}

/** @param {number[]} [values] */
function median(values = []) {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
