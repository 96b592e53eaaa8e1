import { type DeadLetters, Outbox } from "@holdfast/outbox";
import { ProgramDatabase } from "./database/program-database.ts";
import { deliver, endOf, type RunOptions } from "./run.ts";
import { serviceProblem } from "./service-problem.ts";

/** Options for {@link replay} and {@link discard}. */
export interface DeadLetterOptions extends Pick<RunOptions, "services" | "host"> {
  /** All dead letters if undefined. */
  readonly ids: readonly string[] | undefined;
}

/** The longest part of an error that a list shows, in characters. */
const MAX_ERROR = 80;

/**
 * Prints the dead letters of the last run on a server, one a line.
 *
 * @returns the exit code: 2 if there is no such server, or it cannot be used
 */
export async function list({ services, host }: Omit<DeadLetterOptions, "ids">): Promise<number> {
  return await onLastRun({ services, host }, async (_, deadLetters) => {
    for (const { id, key, lastError } of await deadLetters.list({ limit: 1_000 }))
      host.stdout.write(`${id}  ${key.padEnd(11)}  ${lastError?.slice(0, MAX_ERROR) ?? ""}\n`);
    return 0;
  });
}

/** Removes dead letters of the last run on a server. Returns the exit code, as {@link list}. */
export async function discard({ ids, services, host }: DeadLetterOptions): Promise<number> {
  return await onLastRun({ services, host }, async ({ database, dialect }, deadLetters) => {
    const dead = await database.query("SELECT id FROM outbox_message WHERE status = 'dead'");
    const all = dead.map(({ id }) => String(id));
    const chosen = ids === undefined ? all : all.filter((id) => ids.includes(id));
    // Before the messages are gone, so that the summary of a replay does not miss them.
    const mark = `UPDATE demo_order SET discarded = TRUE WHERE message_id = ${dialect.parameter(1)}`;
    for (const id of chosen) await database.query(mark, [id]);
    const count = await deadLetters.discard({ ids: chosen });
    host.stdout.write(`${counted(count)} discarded.\n`);
    return 0;
  });
}

/**
 * Makes dead letters of the last run on a server pending again, and runs until they have arrived: at a
 * receiver that has been repaired. All orders are placed once more, which changes nothing.
 *
 * @returns the exit code, as that of a run; 2 if there is no such server, or it cannot be used
 */
export async function replay({ ids, services, host }: DeadLetterOptions): Promise<number> {
  return await onLastRun({ services, host }, async (tables, deadLetters) => {
    const shape = { workers: 3, kills: 0, seed: 0, json: undefined, port: undefined, keep: false };
    using end = endOf({ settings: { ...shape, messages: 0 }, host });
    const count = await deadLetters.replay(ids === undefined ? "all" : { ids });
    host.stdout.write(`${counted(count)} pending again.\n`);
    const [last] = await tables.database.query(
      "SELECT coalesce(max(number), 0) AS number FROM demo_order",
    );
    const settings = { ...shape, messages: Number(last?.["number"]) };
    return await deliver({ settings, services, host, tables, faults: undefined, end });
  });
}

function counted(count: number): string {
  return `${count} dead ${count === 1 ? "letter is" : "letters are"}`;
}

async function onLastRun(
  { services, host }: Pick<RunOptions, "services" | "host">,
  work: (tables: ProgramDatabase, deadLetters: DeadLetters) => Promise<number>,
): Promise<number> {
  const { database, databaseUrl } = services;
  const problem = await serviceProblem(services);
  if (problem !== undefined || databaseUrl === undefined) {
    const missing = "Set DATABASE_URL or MYSQL_URL to the server of the run.";
    host.stderr.write(`${problem ?? missing}\n`);
    return 2;
  }
  await using tables = await ProgramDatabase.reopen(database, databaseUrl);
  const { deadLetters } = new Outbox({ store: tables.store, clock: host.clock });
  return await work(tables, deadLetters);
}
