import { Command } from "commander";
import { wholeNumber } from "../../terminal/arguments.ts";
import { exitForUsage } from "../../terminal/exit-for-usage.ts";
import type { DatabaseName } from "../database/dialect.ts";
import { DATABASE_HELP, databaseOption } from "../database-option.ts";

/** Options of the command line. */
export interface CrashOptions {
  readonly rounds: number;
  readonly seed: number;
  /** Undefined for the one that the environment names. */
  readonly database: DatabaseName | undefined;
}

export function parseOptions(): CrashOptions {
  return new Command("npm run outbox:crash --")
    .description(
      "Kills workers before and after each step of a message, and checks that every message arrived.",
    )
    .option("--rounds <number>", "number of workers to kill", wholeNumber(1, 10_000), 10)
    .option(
      "--seed <number>",
      "seed of the first round; each round adds 1",
      wholeNumber(0, 2 ** 31),
      1,
    )
    .addOption(databaseOption())
    .helpOption("--help", "show this help")
    .addHelpText("after", DATABASE_HELP)
    .showHelpAfterError()
    .allowExcessArguments(false)
    .exitOverride(exitForUsage)
    .parse()
    .opts<CrashOptions>();
}
