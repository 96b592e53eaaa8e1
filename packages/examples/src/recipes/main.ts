import { constants } from "node:os";
import { describeError } from "./describe-error.ts";
import { RECIPES } from "./recipes.ts";

const STOP_SIGNALS = ["SIGINT", "SIGTERM"] as const;

const [name, ...args] = process.argv.slice(2);
const [, recipe] =
  Object.entries(RECIPES).find(([usage]) => {
    const [first, ...names] = usage.split(" ");
    return first === name && names.length === args.length;
  }) ?? [];

const usages = Object.keys(RECIPES).map((usage) => `  npm run recipe -- ${usage}\n`);
const usage = `Usage: one of\n${usages.join("")}`;

if (name === "--help") {
  process.stdout.write(usage);
} else if (recipe === undefined) {
  const given = name === undefined ? "" : `error: no recipe is "${[name, ...args].join(" ")}"\n\n`;
  process.stderr.write(given + usage);
  process.exitCode = 2;
} else {
  const stop = new AbortController();
  // `once`: a second Ctrl-C ends the process at once.
  for (const signal of STOP_SIGNALS) process.once(signal, () => stop.abort(signal));
  try {
    await recipe(stop.signal, ...args);
  } catch (error) {
    if (error === stop.signal.reason) {
      process.exitCode = 128 + constants.signals[error as (typeof STOP_SIGNALS)[number]];
    } else {
      console.error(describeError(error));
      process.exitCode = 1;
    }
  }
}
