// One contender in a process of its own: `node --expose-gc contender.mjs SUITE CASE SIZE NAME MS`.
// Prints its figures as JSON on the last line.
import { repeat } from "./measure.mjs";
import { suites } from "./suites/index.mjs";

const [suiteId, caseId, size, name, milliseconds] = process.argv.slice(2);
const { contenders, samples } = suites
  .find(({ id }) => id === suiteId)
  .cases.find(({ id }) => id === caseId);
const sample = await contenders[name](Number(size));
const figures = await repeat(sample, { samples, milliseconds: Number(milliseconds) });
console.log(`\n${JSON.stringify(figures)}`);
// Sleeps of an hour and queues that never run dry would keep the process.
process.exit(0);
