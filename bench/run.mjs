import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { median } from "./measure.mjs";
import { shuffled } from "./plan.mjs";

const LIMIT_SECONDS = 300;
const script = fileURLToPath(new URL("contender.mjs", import.meta.url));

/**
 * Runs each job once per round, every time in a fresh process; a job may have a limit of rounds. One that
 * fails is not run again and does not stop the others.
 *
 * @param env - what the processes find in their environment besides
 */
export async function run(jobs, { rounds, onProgress, env = {} }) {
  const results = new Map(jobs.map((job) => [keyOf(job), { ...job, rounds: [] }]));
  const total = jobs.reduce((sum, job) => sum + roundsOf(job, rounds), 0);
  let done = 0;
  for (let round = 0; round < rounds; round++) {
    for (const job of shuffled(jobs.filter((each) => round < roundsOf(each, rounds)))) {
      const result = results.get(keyOf(job));
      onProgress({ done: done++, total, round: round + 1, job });
      if (result.error !== undefined) continue;
      try {
        result.rounds.push(await measure(job, env));
      } catch (error) {
        result.error = reasonOf(error);
      }
    }
  }
  return [...results.values()].map((result) => ({ ...result, figures: mediansOf(result.rounds) }));
}

const roundsOf = ({ mostRounds = Number.POSITIVE_INFINITY }, rounds) =>
  Math.min(rounds, mostRounds);

async function measure({ suite, case: kase, size, contender, milliseconds }, extra) {
  const job = [suite, kase, `${size}`, contender, `${milliseconds}`];
  const args = ["--expose-gc", script, ...job];
  const env = { ...process.env, ...extra };
  const options = { timeout: LIMIT_SECONDS * 1_000, killSignal: "SIGKILL", env };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  return JSON.parse(stdout.trimEnd().split("\n").at(-1));
}

function reasonOf(error) {
  if (error.killed) return `no result after ${LIMIT_SECONDS} s`;
  const said = /^\w*Error.*$/m.exec(error.stderr ?? "");
  return said?.[0] ?? error.message.split("\n")[0];
}

function mediansOf(rounds) {
  const names = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [
      name,
      {
        best: median(rounds.map((round) => round[name].best)),
        p50: median(rounds.map((round) => round[name].p50)),
      },
    ]),
  );
}

const keyOf = (job) => JSON.stringify([job.suite, job.case, job.size, job.contender]);
