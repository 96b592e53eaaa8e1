import { Outbox } from "@holdfast/outbox";
import { ProgramDatabase } from "./database/program-database.ts";
import { deliver, endOf, type RunOptions } from "./run.ts";
import { serviceProblem } from "./service-problem.ts";

/** Options for {@link replay}. */
export interface ReplayOptions extends Pick<RunOptions, "services" | "host"> {
  /** All dead messages if undefined. */
  readonly ids: readonly string[] | undefined;
}

/**
 * Makes dead messages of the last run on a server pending again, and runs until they have arrived: at
 * a receiver that has been repaired. All orders are placed once more, which changes nothing.
 *
 * @returns the exit code, as that of a run; 2 if there is nothing to replay in, or a
 * server cannot be used
 */
export async function replay({ ids, services, host }: ReplayOptions): Promise<number> {
  const { database, databaseUrl } = services;
  const problem = await serviceProblem(services);
  if (problem !== undefined || databaseUrl === undefined) {
    const missing = "Set DATABASE_URL or MYSQL_URL to the server of the run.";
    host.stderr.write(`${problem ?? missing}\n`);
    return 2;
  }
  const shape = { workers: 3, kills: 0, seed: 0, json: undefined, port: undefined, keep: false };
  using end = endOf({ settings: { ...shape, messages: 0 }, host });
  await using tables = await ProgramDatabase.reopen(database, databaseUrl);
  const count = await new Outbox({ store: tables.store, clock: host.clock }).deadLetters.replay(
    ids === undefined ? "all" : { ids },
  );
  host.stdout.write(
    `${count} dead ${count === 1 ? "message is" : "messages are"} pending again.\n`,
  );
  const [last] = await tables.database.query(
    "SELECT coalesce(max(number), 0) AS number FROM demo_order",
  );
  const settings = { ...shape, messages: Number(last?.["number"]) };
  return await deliver({ settings, services, host, tables, faults: undefined, end });
}
