import { realClock } from "@holdfast/clock";
import { ending } from "../../terminal/ending.ts";
import { serviceProblem } from "../service-problem.ts";
import { servicesOf } from "../settings.ts";
import { parseOptions } from "./options.ts";
import { Rounds } from "./rounds.ts";

/** The time limit of a run, in milliseconds. A message not settled by then is stuck. */
const LONGEST = 60 * 60_000;

const { stdout, stderr } = process;
const host = { clock: realClock, stdout, stderr };
const { rounds: count, seed, ...wanted } = parseOptions();
const { database, databaseUrl } = servicesOf(process.env, wanted.database);
const unused = { amqpUrl: undefined, redisUrl: undefined };
const problem = await serviceProblem({ database, databaseUrl, ...unused });
if (problem !== undefined) {
  stderr.write(`${problem}\n`);
  process.exitCode = 2;
} else {
  using end = ending(host, { duration: LONGEST, kill: () => undefined });
  const rounds = new Rounds({
    rounds: count,
    seed,
    database,
    databaseUrl,
    clock: realClock,
    log: console.log,
  });
  const isRight = await rounds.run(end.signal);
  process.exitCode = end.signal.aborted ? (await end.request).code || 1 : Number(!isRight);
}
