import { Command, CommanderError } from "commander";
import { wholeNumber } from "../terminal/arguments.ts";
import type { DatabaseName } from "./database/dialect.ts";
import { DATABASE_HELP, databaseOption } from "./database-option.ts";
import type { Settings } from "./settings.ts";

interface Wanted {
  /** Undefined for the one that the environment names. */
  readonly database: DatabaseName | undefined;
}

/** What the command line asks for, or a text to print and the exit code to end with. */
export type ParsedOptions =
  | ({ readonly kind: "run"; readonly settings: Settings } & Wanted)
  /** All dead messages if no ids are given. */
  | ({ readonly kind: "replay"; readonly ids: readonly string[] | undefined } & Wanted)
  | { readonly kind: "print"; readonly text: string; readonly code: number };

const LAST_PORT = 65_535;

const ENVIRONMENT = `${DATABASE_HELP}  AMQP_URL      a RabbitMQ to send to, instead of a webhook
  REDIS_URL     a Redis for the lock of the compensation task, instead of a row in the database

The program ends when every message has arrived or is dead. With --keep it goes on, for the page, until
Ctrl-C. A second Ctrl-C kills the workers at once.
`;

/** @param found - gets what the command line asks for */
function createCommand(found: (parsed: ParsedOptions) => void): Command {
  const command = new Command("npm run outbox --")
    .description(
      "Sends orders through an outbox, in worker processes that are killed, to a receiver that fails.",
    )
    .option("--messages <number>", "how many orders are placed", wholeNumber(1, 1_000_000), 1_000)
    .option("--workers <number>", "how many processes share the outbox", wholeNumber(1, 20), 3)
    .option("--kills <number>", "how many are killed along the way", wholeNumber(0, 1_000), 5)
    .option("--seed <number>", "which attempts fail, which are killed", wholeNumber(0, 2 ** 31), 1)
    .option("--json <file>", 'write the figures as JSON; "-" prints nothing else')
    .addOption(databaseOption())
    .option("--port <number>", "port of the page", wholeNumber(0, LAST_PORT), 0)
    .option("--no-page", "serve no page")
    .option("--keep", "go on when all is settled, until Ctrl-C", false)
    .helpOption("--help", "show this")
    .addHelpText("after", ENVIRONMENT)
    .showHelpAfterError()
    .allowExcessArguments(false)
    .enablePositionalOptions() // `replay` has options of the same names.
    .action(({ page, port, json, database, ...numbers }) => {
      const settings = { ...numbers, json, port: page ? port : undefined };
      found({ kind: "run", settings, database });
    });
  command
    .command("replay")
    .description(
      "Sends dead messages of the last run on a server again, to a receiver that has been repaired.",
    )
    .option("--ids <id...>", "these; all that are dead if not given")
    .addOption(databaseOption())
    .helpOption("--help", "show this")
    .action(({ ids, database }) => found({ kind: "replay", ids, database }));
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
