import { writeFileSync } from "node:fs";
import { judge } from "./claims.mjs";
import { exitCodeOf } from "./exit-code.mjs";
import { load, machine, versions } from "./machine.mjs";
import { parseOptions, USAGE } from "./options.mjs";
import { isNeeded, narrowed, planOf } from "./plan.mjs";
import { changedSince, compare, keep, keptRuns, kindOf, ratiosOf, writeRuns } from "./ratios.mjs";
import { report } from "./report.mjs";
import { run } from "./run.mjs";
import { suites as allSuites } from "./suites/index.mjs";

/** How each is opened. What is not asked for is not loaded: it is not everywhere. */
const SERVERS = {
  PostgreSQL: async () => (await import("./postgres.mjs")).openPostgres(),
  MariaDB: async () => (await import("./mariadb.mjs")).openMaria(),
  "Kubernetes API server": async () => (await import("./kubernetes.mjs")).openApiServer(),
  "client-go": async () => (await import("./client-go.mjs")).openClientGo(),
  "client-node 2": openClientNode,
};

/** Its undici 8 does not load on an older Node. */
async function openClientNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 19))
    throw new Error(`it needs Node 22.19, and this is ${process.version}`);
  return { env: {}, facts: "client-node 2", async [Symbol.asyncDispose]() {} };
}

let shown;
const options = readOptions();
const began = performance.now();
const kind = kindOf(machine());
const kept = keptRuns();
if (options.compare && !kept.some((run) => run.machine === kind)) {
  const others = [...new Set(kept.map((run) => run.machine))].join("; ") || "none";
  console.log(
    `NOT RUN: no claim is compared: bench/ratios.json has ratios of ${others}; this is ${kind}. Keep its ratios: npm run bench -- --keep`,
  );
  process.exit(0);
}
const cpuClaims = judge([]).filter(({ isCpu }) => isCpu);
const cpuNames = cpuClaims.map(({ says }) => says);
const suites = options.compare ? narrowed(allSuites, cpuClaims) : allSuites;
const { servers, missing } = await services();
const { jobs, skipped } = planOf(suites, options, missing);
const loadBefore = load();
const { rounds } = options;
const env = Object.assign({}, ...servers.map((server) => server.env));
const measure = (some) => run(some, { rounds, onProgress: show, env });
const results = await measure(jobs);
const verdicts = judge(results);
/** What a second run of claims that are worse has measured. */
const second = [];
const comparison = options.compare
  ? await compare(kept, {
      machine: kind,
      only: options.only,
      verdicts,
      again: async (worse) => {
        second.push(...(await measure(planOf(narrowed(suites, worse), options, missing).jobs)));
        return judge(second);
      },
    })
  : undefined;
for (const server of servers) await server[Symbol.asyncDispose]();
if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
const facts = {
  machine: machine(),
  versions: versions(),
  services: servers.map((server) => server.facts),
  loads: [loadBefore, load()],
  options,
  results,
  skipped,
  verdicts,
  comparison,
};
console.log(report({ ...facts, suites }));
for (const [name, reason] of Object.entries(missing))
  console.log(`NOT RUN: what needs ${name}: ${reason}`);
console.log(`\n${Math.round((performance.now() - began) / 1_000)} s`);
if (options.json !== undefined)
  writeFileSync(options.json, `${JSON.stringify(facts, undefined, 2)}\n`);
process.exitCode = exitCodeOf({ ...facts, results: [...results, ...second] });
if (comparison?.some(({ state }) => state === "worse"))
  for (const change of changedSince(kept, { machine: kind, versions: allVersions() }))
    console.log(`changed: ${change}`);
if (options.keep) keepRatios();

function keepRatios() {
  if (process.exitCode !== 0) return console.log("nothing is kept: the run has failed");
  const [date] = new Date().toISOString().split("T");
  const ratios = ratiosOf(verdicts);
  const made = { date, machine: kind, versions: allVersions(), services: facts.services, ratios };
  writeRuns(keep(kept, made, cpuNames));
  console.log(`kept in bench/ratios.json: ${Object.keys(ratios).length} ratios`);
}

function allVersions() {
  return { node: process.version, ...versions() };
}

function readOptions() {
  try {
    const parsed = parseOptions(
      process.argv.slice(2),
      allSuites.map(({ id }) => id),
    );
    if (!parsed.help) return parsed;
    console.log(USAGE);
    process.exit(0);
  } catch (error) {
    console.error(`error: ${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

/** What contenders need besides this machine, and why they do not get it. */
async function services() {
  const missing = {};
  const servers = [];
  for (const [name, open] of Object.entries(SERVERS)) {
    if (!isNeeded(name, suites, options)) continue;
    try {
      servers.push(await open());
    } catch (error) {
      missing[name] = error.message.split("\n")[0];
    }
  }
  return { servers, missing };
}

/** One line that rewrites itself in a terminal, one line per round elsewhere. */
function show({ done, total, round, job }) {
  const text = `${done} of ${total}, round ${round}: ${job.case} ${job.size} ${job.contender}`;
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text.slice(0, 78)}`);
  else if (round !== shown) console.error(text);
  shown = round;
}
