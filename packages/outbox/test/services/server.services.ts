import { realClock } from "@holdfast/clock";
import { createConnection } from "mysql2/promise";
import pg from "pg";
import { expect, it } from "vitest";
import { MariaServer } from "../../../../services/mariadb.mjs";
import { PostgresServer } from "../../../../services/postgres.mjs";

it("starts again at once after it was killed, however slowly its processes end", async () => {
  await using server = await PostgresServer.start();
  const client = new pg.Client(server.url);
  client.on("error", () => undefined); // killed
  await client.connect();
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  const pid = rows[0]?.pid ?? Number.NaN; // 0 would be everybody in the group of these tests

  process.kill(pid, "SIGSTOP");
  realClock.afterFunc(300, () => process.kill(pid, "SIGCONT"));
  await server.kill();

  await expect(server.start()).resolves.toBeUndefined();
});

it("starts a MariaDB without anonymous users that keeps its data through a kill", async () => {
  await using server = await MariaServer.start();
  const nameless = createConnection(server.url.replace(/root:.*@/, "@"));
  await expect(nameless).rejects.toThrow(/Access denied/);
  const first = await createConnection(server.url);
  first.on("error", () => undefined); // killed
  await first.query("CREATE DATABASE kept");

  await server.kill();
  await server.start();

  const second = await createConnection(server.url);
  await second.query("USE kept");
  await second.end();
});
