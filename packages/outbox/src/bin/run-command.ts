import { runCommands } from "@holdfast/kit/node";
import type { Command, Io } from "./command.ts";
import { dead } from "./dead.ts";
import { migrate } from "./migrate.ts";
import { page } from "./page.ts";
import { problemText } from "./problem.ts";
import { status } from "./status.ts";
import { pause, resume } from "./topics.ts";

const USAGE = `npx @holdfast/outbox COMMAND

  status                  how many messages are pending, retrying and dead, when the next one is due, and which topics
                          are paused
  pause TOPIC             holds the messages of a topic: relays send none of them, and they spend no attempts
  resume TOPIC            sends them again
  dead list               dead letters, those that died first come first
    --topic TOPIC         those of one topic
    --limit N             at most so many; default: 100
  dead show ID            one dead letter, with its headers, payload and last error
  dead replay SELECTION   makes dead letters pending again, due now, with all their attempts
  dead discard SELECTION  removes dead letters for good
    ID...                 SELECTION: some of them,
    --topic TOPIC         those of one topic,
    --all                 or all
    --limit N             with --topic or --all: at most so many
    --portion N           with --topic or --all: so many per transaction; default: 100
    --yes                 discard: does not ask; needed without a terminal
  migrate                 brings the tables up to date
    --print               prints the SQL that it would run, and runs nothing
  page                    a page with the status and the dead letters, on 127.0.0.1 until Ctrl-C
    --port PORT           default: a free one

  --url URL               postgres://, postgresql://, mysql://, mariadb:// or a folder of PGlite; default: DATABASE_URL
  --prefix PREFIX         the first part of the names of the tables; default: outbox_
  --schema SCHEMA         the schema of the tables, on PostgreSQL; default: the first of search_path that has them
  --timeout SECONDS       the longest that one statement may take; default: 60
  --json                  JSON for programs, a line for each value
`;

const COMMANDS = new Map<string | undefined, Command>([
  ["status", status],
  ["pause", pause],
  ["resume", resume],
  ["dead", dead],
  ["migrate", migrate],
  ["page", page],
]);

/**
 * Runs the command line.
 *
 * @returns the exit code: that of the command, or 2 if the arguments are wrong or the database cannot be used
 */
export async function runCommand(args: readonly string[], io: Io): Promise<number> {
  const given = [...args, io.env["DATABASE_URL"]];
  const problem = (error: unknown): string => problemText(error, given);
  return await runCommands({ usage: USAGE, commands: COMMANDS, problem }, args, io);
}
