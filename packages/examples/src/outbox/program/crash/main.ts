import { realClock } from "@holdfast/clock";
import { ending } from "../../../supervisor/ending.ts";
import { servicesOf } from "../settings.ts";
import { parseOptions } from "./options.ts";
import { Rounds } from "./rounds.ts";

/** After that, in milliseconds, what is not settled never will be. */
const LONGEST = 60 * 60_000;

const { stdout, stderr } = process;
const host = { clock: realClock, stdout, stderr };
const { databaseUrl } = servicesOf(process.env);
using end = ending(host, { duration: LONGEST, kill: () => undefined });
const rounds = new Rounds({ ...parseOptions(), clock: realClock, databaseUrl, log: console.log });
const isRight = await rounds.run(end.signal);
process.exitCode = end.signal.aborted ? (await end.request).code || 1 : Number(!isRight);
