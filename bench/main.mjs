import { writeFileSync } from "node:fs";
import { judge } from "./claims.mjs";
import { exitCodeOf } from "./exit-code.mjs";
import { load, machine, versions } from "./machine.mjs";
import { parseOptions, USAGE } from "./options.mjs";
import { isNeeded, planOf } from "./plan.mjs";
import { report } from "./report.mjs";
import { run } from "./run.mjs";
import { suites } from "./suites/index.mjs";

/** How each is opened. What is not asked for is not loaded: it is not everywhere. */
const SERVERS = {
  PostgreSQL: async () => (await import("./postgres.mjs")).openPostgres(),
  MariaDB: async () => (await import("./mariadb.mjs")).openMaria(),
  "Kubernetes API server": async () => (await import("./kubernetes.mjs")).openApiServer(),
  "client-go": async () => (await import("./client-go.mjs")).openClientGo(),
};

let shown;
const options = readOptions();
const began = performance.now();
const { servers, missing } = await services();
const { jobs, skipped } = planOf(suites, options, missing);
const loadBefore = load();
const { rounds } = options;
const env = Object.assign({}, ...servers.map((server) => server.env));
const results = await run(jobs, { rounds, onProgress: show, env });
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
  verdicts: judge(results),
};
console.log(report({ ...facts, suites }));
console.log(`\n${Math.round((performance.now() - began) / 1_000)} s`);
if (options.json !== undefined)
  writeFileSync(options.json, `${JSON.stringify(facts, undefined, 2)}\n`);
process.exitCode = exitCodeOf(facts);

function readOptions() {
  try {
    const parsed = parseOptions(
      process.argv.slice(2),
      suites.map(({ id }) => id),
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
