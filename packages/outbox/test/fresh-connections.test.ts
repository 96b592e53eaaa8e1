import { MySqlDatabase } from "@holdfast/outbox/mysql";
import { PgDatabase } from "@holdfast/outbox/postgres";
import {
  type Door,
  MYSQL_WAYS,
  mysqlPool,
  POSTGRES_WAYS,
  pgPool,
  testFreshConnections,
} from "../../../test/fresh-connections.contract.ts";

type Use<Database> = (database: Database, signal: AbortSignal) => Promise<unknown>;

const postgres = (use: Use<PgDatabase>) => (): Door => {
  const { pool, connections } = pgPool();
  const database = new PgDatabase(pool as never);
  const door = connections.door((signal) => use(database, signal), POSTGRES_WAYS);
  const listened = async (): Promise<void> => {
    const stop = new AbortController();
    const listening = database.listen("messages", () => {}, stop.signal);
    await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    await listening;
  };
  return { ...door, ways: { ...door.ways, "has listened": listened } };
};

testFreshConnections(
  {
    "PgDatabase.query": postgres((database, signal) => database.query("INSERT", [], signal)),
    "PgDatabase.transaction": postgres((database, signal) =>
      database.transaction((tx) => tx.query("INSERT"), signal),
    ),
    "PgDatabase.transaction that ignores the error": postgres((database, signal) =>
      database.transaction((tx) => tx.query("INSERT").catch(() => []), signal),
    ),
    "PgDatabase.readCommitted": postgres((database, signal) =>
      database.readCommitted((tx) => tx.query("INSERT"), signal),
    ),
  },
  [...Object.keys(POSTGRES_WAYS), "has listened"],
);

const mysql = (use: Use<MySqlDatabase>) => (): Door => {
  const { pool, connections } = mysqlPool();
  const database = new MySqlDatabase(pool as never);
  return connections.door((signal) => use(database, signal), MYSQL_WAYS);
};

testFreshConnections(
  {
    "MySqlDatabase.query": mysql((database, signal) => database.query("INSERT", [], signal)),
    "MySqlDatabase.transaction": mysql((database, signal) =>
      database.transaction((tx) => tx.query("INSERT"), signal),
    ),
    "MySqlDatabase.transaction that ignores the error": mysql((database, signal) =>
      database.transaction((tx) => tx.query("INSERT").catch(() => []), signal),
    ),
    "MySqlDatabase.readCommitted": mysql((database, signal) =>
      database.readCommitted((tx) => tx.query("INSERT", [1]), signal),
    ),
  },
  Object.keys(MYSQL_WAYS),
);

// A migration has no signal.
testFreshConnections(
  { "MySqlDatabase.session": mysql((database) => database.session((own) => own.query("INSERT"))) },
  Object.keys(MYSQL_WAYS).filter((way) => MYSQL_WAYS[way] !== "silence"),
);
