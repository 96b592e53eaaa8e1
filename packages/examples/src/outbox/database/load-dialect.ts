import type { DatabaseName, Dialect } from "./dialect.ts";

/** Loads only the driver that is needed: workers start often. */
export async function loadDialect(name: DatabaseName): Promise<Dialect> {
  if (name === "mysql") return (await import("./mysql.ts")).mysql;
  return (await import("./postgres.ts")).postgres;
}
