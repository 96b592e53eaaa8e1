import { Command } from "commander";
import { wholeNumber } from "../../../terminal/arguments.ts";
import { exitForUsage } from "../../../terminal/exit-for-usage.ts";

/** What the command line asks for. */
export interface CrashOptions {
  readonly rounds: number;
  readonly seed: number;
}

export function parseOptions(): CrashOptions {
  return new Command("npm run outbox:crash --")
    .description(
      "Lets workers die before and after each step of a message, and counts what is left.",
    )
    .option("--rounds <number>", "how many die", wholeNumber(1, 10_000), 10)
    .option(
      "--seed <number>",
      "of the first round; the next has the next",
      wholeNumber(0, 2 ** 31),
      1,
    )
    .helpOption("--help", "show this")
    .addHelpText("after", "\nDATABASE_URL is a PostgreSQL server, instead of an embedded one.\n")
    .showHelpAfterError()
    .allowExcessArguments(false)
    .exitOverride(exitForUsage)
    .parse()
    .opts<CrashOptions>();
}
