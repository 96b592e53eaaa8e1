import type { DatabaseName } from "./database/dialect.ts";
import type { DatabaseAddress } from "./database/program-database.ts";

/** The size and the faults of a run. */
export interface Settings {
  readonly messages: number;
  readonly workers: number;
  /** The number of workers that are killed along the way. */
  readonly kills: number;
  /** Decides which attempts fail, when workers are killed, and which. */
  readonly seed: number;
  /** The file to write the figures to; `-` is the standard output, which then has nothing else. */
  readonly json: string | undefined;
  /** The port of the page; 0 for a free port, undefined for no page. */
  readonly port: number | undefined;
  /** Whether the run goes on when all is settled, until a signal. */
  readonly keep: boolean;
}

/** The servers to use. Those that are undefined are embedded, or not needed. */
export interface Services extends DatabaseAddress {
  readonly amqpUrl: string | undefined;
  readonly redisUrl: string | undefined;
}

/** The variable with the URL of each database server. */
export const DATABASE_VARIABLES = {
  postgres: "DATABASE_URL",
  mysql: "MYSQL_URL",
  pglite: undefined,
} as const;

/**
 * Reads the services from the environment. An empty variable counts as none.
 *
 * @param wanted - the database of the command line; by default the first that has a variable, or PGlite
 */
export function servicesOf(env: NodeJS.ProcessEnv, wanted?: DatabaseName): Services {
  const urlOf = (name: DatabaseName): string | undefined => {
    const variable = DATABASE_VARIABLES[name];
    return variable && (env[variable] || undefined);
  };
  const found = (["postgres", "mysql"] as const).find((name) => urlOf(name) !== undefined);
  const database = wanted ?? found ?? "pglite";
  return {
    database,
    databaseUrl: urlOf(database),
    amqpUrl: env["AMQP_URL"] || undefined,
    redisUrl: env["REDIS_URL"] || undefined,
  };
}
