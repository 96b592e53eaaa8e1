import { Command, CommanderError } from "commander";
import { wholeNumber } from "../terminal/arguments.ts";
import type { DatabaseName } from "./database/dialect.ts";
import { DATABASE_HELP, databaseOption } from "./database-option.ts";
import type { Settings } from "./settings.ts";

interface Wanted {
  /** Undefined for the one that the environment names. */
  readonly database: DatabaseName | undefined;
}

/** Options of the command line, or a text to print with the exit code. */
export type ParsedOptions =
  | ({ readonly kind: "run"; readonly settings: Settings } & Wanted)
  | ({ readonly kind: "dead-letters" } & Wanted)
  /** All dead letters if no ids are given. */
  | ({ readonly kind: "replay" | "discard"; readonly ids: readonly string[] | undefined } & Wanted)
  | { readonly kind: "print"; readonly text: string; readonly code: number };

const LAST_PORT = 65_535;

const ENVIRONMENT = `${DATABASE_HELP}  AMQP_URL      the RabbitMQ server to send to, instead of a webhook
  REDIS_URL     the Redis server with the lock of the recovery task, instead of a row in the database

The program ends when every message has arrived or is dead. With --keep it serves the page until Ctrl-C.
A second Ctrl-C kills the workers at once.
`;

/** @param found - receives the parsed options */
function createCommand(found: (parsed: ParsedOptions) => void): Command {
  const command = new Command("npm run outbox --")
    .description(
      "Sends orders through an outbox to a failing receiver, and kills worker processes meanwhile.",
    )
    .option("--messages <number>", "number of orders", wholeNumber(1, 1_000_000), 1_000)
    .option("--workers <number>", "number of worker processes", wholeNumber(1, 20), 3)
    .option("--kills <number>", "number of workers to kill", wholeNumber(0, 1_000), 5)
    .option(
      "--seed <number>",
      "seed of the failures and kills; equal seeds give equal choices",
      wholeNumber(0, 2 ** 31),
      1,
    )
    .option("--json <file>", 'write the figures as JSON; "-" prints nothing else')
    .addOption(databaseOption())
    .option(
      "--port <number>",
      "port of the page; 0 picks a free port",
      wholeNumber(0, LAST_PORT),
      0,
    )
    .option("--no-page", "do not serve the page")
    .option("--keep", "serve the page until Ctrl-C, also after the last message", false)
    .helpOption("--help", "show this help")
    .addHelpText("after", ENVIRONMENT)
    .showHelpAfterError()
    .allowExcessArguments(false)
    .enablePositionalOptions() // Its commands have options of the same names.
    .action(({ page, port, json, database, ...numbers }) => {
      const settings = { ...numbers, json, port: page ? port : undefined };
      found({ kind: "run", settings, database });
    });
  command
    .command("dead-letters")
    .description("Lists the dead letters of the last run.")
    .addOption(databaseOption())
    .helpOption("--help", "show this help")
    .action(({ database }) => found({ kind: "dead-letters", database }));
  const descriptions = {
    replay: "Sends the dead letters of the last run again, to a repaired receiver.",
    discard: "Removes the dead letters of the last run for good.",
  } as const;
  for (const kind of ["replay", "discard"] as const)
    command
      .command(kind)
      .description(descriptions[kind])
      .option("--ids <id...>", "ids of the messages; default: all dead letters")
      .addOption(databaseOption())
      .helpOption("--help", "show this help")
      .action(({ ids, database }) => found({ kind, ids, database }));
  return command;
}

/** Reads the arguments of the command line, without those of Node. */
export function parseOptions(args: readonly string[]): ParsedOptions {
  const printed: string[] = [];
  const print = (text: string): void => void printed.push(text);
  let parsed: ParsedOptions | undefined;
  const command = createCommand((found) => {
    parsed = found;
  });
  for (const each of [command, ...command.commands])
    each.configureOutput({ writeOut: print, writeErr: print }).exitOverride();
  try {
    command.parse(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: "print", text: printed.join(""), code: error.exitCode === 0 ? 0 : 2 };
  }
  return parsed as ParsedOptions;
}
