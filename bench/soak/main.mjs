// `npm run soak -- operator|informers|relay`: a process under load for long, outside CI. Samples its memory sixty times, draws
// what it saw, and ends with 1 if memory grew or anything was lost. Ctrl-C ends a run early, with its checks.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readArguments, wholeNumber } from "../../tools/arguments.mjs";
import { informers } from "./informers.mjs";
import { operator } from "./operator.mjs";
import { draw } from "./picture.mjs";
import { memoryOf } from "./program.mjs";
import { relay } from "./relay.mjs";

const SCENARIOS = {
  operator: { run: operator, minutes: "60", objects: "100000" },
  informers: { run: informers, minutes: "10", objects: "1000" },
  relay: { run: relay, minutes: "10", objects: "5000000" },
};
const USAGE = `npm run soak -- operator|informers|relay [options]
  --minutes N    how long it runs (default 60 for the operator, 10 for the others)
  --objects N    objects of the operator (100000), informers (1000), messages that wait for the relay (5000000)
  --picture FILE where the picture is written (default docs/img/soak-NAME.svg)
  --help         show this help`;

const options = Object.fromEntries(
  ["minutes", "objects", "picture"].map((name) => [name, { type: "string" }]),
);
const { name, minutes, objects, picture } = readArguments(
  USAGE,
  { allowPositionals: true, options },
  ({ values, positionals }) => {
    const name = positionals.join(" ");
    if (!Object.hasOwn(SCENARIOS, name))
      throw new RangeError(`pass one of ${Object.keys(SCENARIOS).join(", ")}, got "${name}"`);
    const given = { ...SCENARIOS[name], ...values };
    const [minutes, objects] = ["minutes", "objects"].map((option) =>
      wholeNumber(`--${option}`, given[option], 1),
    );
    const file = fileURLToPath(new URL(`../../docs/img/soak-${name}.svg`, import.meta.url));
    return { name, minutes, objects, picture: values.picture ?? file };
  },
);

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());
const kept = [];
const keep = (one) => kept.unshift(one);
try {
  const seen = await SCENARIOS[name].run({ minutes, objects, signal: stop.signal, keep });
  const memory = memoryOf(seen.samples);
  writeFileSync(picture, draw(seen));
  console.log(`\n${seen.title}\n  picture: ${picture}`);
  for (const [figure, value] of Object.entries({ ...memory.figures, ...seen.figures }))
    console.log(`  ${figure}: ${value}`);
  const problems = [...memory.problems, ...seen.problems];
  for (const problem of problems.slice(0, 20)) console.log(`FAILED: ${problem}`);
  process.exitCode = problems.length > 0 ? 1 : 0;
} finally {
  for (const one of kept) await one[Symbol.asyncDispose]();
}
