import { realClock } from "@holdfast/clock";
import { ending } from "../../../terminal/ending.ts";
import { serviceProblem } from "../service-problem.ts";
import { servicesOf } from "../settings.ts";
import { parseOptions } from "./options.ts";
import { Rounds } from "./rounds.ts";

/** After that, in milliseconds, what is not settled never will be. */
const LONGEST = 60 * 60_000;

const { stdout, stderr } = process;
const host = { clock: realClock, stdout, stderr };
const options = parseOptions();
const { databaseUrl } = servicesOf(process.env);
const unused = { amqpUrl: undefined, redisUrl: undefined };
const problem = await serviceProblem({ databaseUrl, ...unused });
if (problem !== undefined) {
  stderr.write(`${problem}\n`);
  process.exitCode = 2;
} else {
  using end = ending(host, { duration: LONGEST, kill: () => undefined });
  const rounds = new Rounds({ ...options, clock: realClock, databaseUrl, log: console.log });
  const isRight = await rounds.run(end.signal);
  process.exitCode = end.signal.aborted ? (await end.request).code || 1 : Number(!isRight);
}
