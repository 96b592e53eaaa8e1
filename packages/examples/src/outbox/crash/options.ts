import { Command } from "commander";
import { wholeNumber } from "../../terminal/arguments.ts";
import { exitForUsage } from "../../terminal/exit-for-usage.ts";
import type { DatabaseName } from "../database/dialect.ts";
import { DATABASE_HELP, databaseOption } from "../database-option.ts";

/** What the command line asks for. */
export interface CrashOptions {
  readonly rounds: number;
  readonly seed: number;
  /** Undefined for the one that the environment names. */
  readonly database: DatabaseName | undefined;
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
    .addOption(databaseOption())
    .helpOption("--help", "show this")
    .addHelpText("after", DATABASE_HELP)
    .showHelpAfterError()
    .allowExcessArguments(false)
    .exitOverride(exitForUsage)
    .parse()
    .opts<CrashOptions>();
}
