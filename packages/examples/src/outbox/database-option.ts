import { Option } from "commander";
import { DATABASES } from "./database/dialect.ts";

/** The option that names the database of a run. */
export function databaseOption(): Option {
  const meaning = "database; by default the first with a URL in the environment, or pglite";
  return new Option("--database <name>", meaning).choices(DATABASES);
}

export const DATABASE_HELP = `
Environment:
  DATABASE_URL  the PostgreSQL server for --database postgres
  MYSQL_URL     the MySQL or MariaDB server for --database mysql
`;
