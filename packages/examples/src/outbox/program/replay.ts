import { PostgresStore } from "../store/postgres-store.ts";
import { ProgramDatabase } from "./database/program-database.ts";
import { deliver, type RunOptions } from "./run.ts";
import { serviceProblem } from "./service-problem.ts";

/** What {@link replay} works with. */
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
  const { databaseUrl } = services;
  if (databaseUrl === undefined) {
    host.stderr.write("DATABASE_URL must name the server that the run was on.\n");
    return 2;
  }
  const problem = await serviceProblem(services);
  if (problem !== undefined) {
    host.stderr.write(`${problem}\n`);
    return 2;
  }
  await using tables = ProgramDatabase.reopen(databaseUrl);
  const { database } = tables;
  const store = new PostgresStore(database);
  const count = await store.replay({ ids, editor: "replay", now: host.clock.now() });
  host.stdout.write(
    `${count} dead ${count === 1 ? "message is" : "messages are"} pending again.\n`,
  );
  const [last] = await database.query("SELECT coalesce(max(number), 0) AS number FROM demo_order");
  const messages = Number(last?.["number"]);
  const settings = { messages, workers: 3, kills: 0, seed: 0, json: undefined };
  return await deliver(tables, undefined, { settings, services, host });
}
