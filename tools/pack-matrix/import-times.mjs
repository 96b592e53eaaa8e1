// What `import()` of each entry point takes in a process of its own, beside an empty module: the bundle that
// is published, and the small files of `tsc` that it is made of.
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join, resolve } from "node:path";
import { runNode } from "./run-node.mjs";

const ROUNDS = 21;
const EMPTY = "./empty.mjs";

/** Processor time as well, which a machine that is busy with other things does not stretch. */
const PROGRAM = `
const cpu = process.cpuUsage();
const wall = performance.now();
await import(process.argv[2]);
const took = performance.now() - wall;
const { user, system } = process.cpuUsage(cpu);
console.log(JSON.stringify({ wall: took, cpu: (user + system) / 1_000 }));
`;

/** @typedef {{ wall: number, cpu: number }} Time in milliseconds */

/**
 * Measures all of them in turn, so that a busy machine slows each as much.
 *
 * @param {string} folder - where the packages are installed
 * @param {string[]} entries
 * @param {{ folder: string, manifest: any }[]} packages
 * @returns {Promise<string[]>} lines: a head, then one for each entry point
 */
export async function importTimes(folder, entries, packages) {
  const small = withSmallFiles(folder, packages);
  const homes = { bundle: folder, small };
  for (const home of [folder, small]) {
    writeFileSync(join(home, EMPTY), "");
    writeFileSync(join(home, "import-time.mjs"), PROGRAM);
  }
  const jobs = Object.entries(homes).flatMap(([form, home]) =>
    [EMPTY, ...entries].map((entry) => ({ form, home, entry, times: /** @type {Time[]} */ ([]) })),
  );
  const before = loadavg()[0] ?? 0;
  for (let round = 0; round < ROUNDS; round++)
    for (const { home, entry, times } of jobs) times.push(await timeOf(home, entry));
  const medianOf = (form, entry) =>
    medians(jobs.find((job) => job.form === form && job.entry === entry)?.times ?? []);
  const loads = [before, loadavg()[0] ?? 0].map((load) => load.toFixed(1)).join(" to ");
  const empty = { bundle: medianOf("bundle", EMPTY), small: medianOf("small", EMPTY) };
  return [
    `\nimport() in a process of its own, medians of ${ROUNDS} rounds; load ${loads}`,
    `an empty module takes ${empty.bundle.cpu.toFixed(1)} ms of processor time, ${empty.bundle.wall.toFixed(1)} ms in all`,
    "beyond it, in ms (and as a ratio to it), for the bundle and for the small files of tsc:",
    row("", ["bundle: cpu", "wall", "small: cpu", "wall", "small/bundle"]),
    ...entries.map((entry) => {
      const [bundle, small] = [medianOf("bundle", entry), medianOf("small", entry)];
      const ratio = (small.cpu - empty.small.cpu) / (bundle.cpu - empty.bundle.cpu);
      return row(entry, [
        ...beyond(bundle, empty.bundle),
        ...beyond(small, empty.small),
        `${ratio.toFixed(1)} x`,
      ]);
    }),
  ];
}

/** The installation once more, with the output of `tsc` in place of the bundles. */
function withSmallFiles(folder, packages) {
  const small = `${folder}-small`;
  mkdirSync(join(small, "node_modules/@holdfast"), { recursive: true });
  for (const name of readdirSync(join(folder, "node_modules")))
    if (name !== "@holdfast" && !name.startsWith("."))
      symlinkSync(join(folder, "node_modules", name), join(small, "node_modules", name));
  for (const { folder: source, manifest } of packages) {
    const dist = resolve(source, "dist");
    if (!existsSync(dist)) throw new Error(`${dist} is missing: run npm run build`);
    const copy = join(small, "node_modules", manifest.name);
    mkdirSync(copy);
    cpSync(join(folder, "node_modules", manifest.name, "package.json"), join(copy, "package.json"));
    cpSync(dist, join(copy, "dist"), { recursive: true });
  }
  return small;
}

/** @returns {Promise<Time>} */
async function timeOf(folder, entry) {
  const { code, lines, errors } = await runNode(folder, ["import-time.mjs", entry]);
  if (code !== 0) throw new Error(errors.join("\n"));
  return JSON.parse(lines[0] ?? "");
}

/** @param {Time[]} times */
function medians(times) {
  return { cpu: median(times.map(({ cpu }) => cpu)), wall: median(times.map(({ wall }) => wall)) };
}

/**
 * @param {Time} time
 * @param {Time} empty
 */
function beyond(time, empty) {
  return /** @type {const} */ (["cpu", "wall"]).map((kind) => {
    const difference = (time[kind] - empty[kind]).toFixed(1);
    return `${difference} (${(time[kind] / empty[kind]).toFixed(1)} x)`;
  });
}

function row(name, values) {
  return `${name.padEnd(34)}${values.map((value) => value.padStart(17)).join("")}`;
}

/** @param {number[]} values */
function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
