import { silentLogger } from "@holdfast/controller";
import { PGliteDatabase, PGliteOutbox } from "@holdfast/outbox/pglite";
import { RecordingPublisher } from "@holdfast/outbox/testing";
import { expect, it } from "vitest";
import { emptyPGlite } from "../../../../test/empty-pglite.ts";
import { testOrder } from "../postgres/order.contract.ts";
import { testPostgres } from "../postgres/postgres.contract.ts";
import { testDrizzle } from "../query-layers/test-drizzle.ts";
import { testKysely } from "../query-layers/test-kysely.ts";
import { testPostgresJs } from "../query-layers/test-postgres-js.ts";
import { testGuide } from "./test-guide.ts";
import { testPGliteListening } from "./test-listening.ts";

// One PGlite for all: each worker that starts another compiles it anew, which takes more CPU than the tests.
testPostgres("PGlite", async () => new PGliteDatabase(await emptyPGlite()));
testOrder("PGlite", async () => new PGliteDatabase(await emptyPGlite()));
testPGliteListening();
testGuide();
testDrizzle();
testKysely();
testPostgresJs();

it("keeps an outbox in a schema that is not on search_path", async () => {
  const pglite = await emptyPGlite();
  await pglite.exec("DROP SCHEMA IF EXISTS \"Shop-1\" CASCADE; SET search_path = ''");
  const publisher = new RecordingPublisher();
  const common = { name: "shop", schema: "Shop-1", pglite, logger: silentLogger };
  const outbox = new PGliteOutbox({ ...common, publisher, order: "key", pollInterval: 3_600_000 });
  expect(await outbox.migrate()).not.toEqual([]);
  expect(await outbox.migrate()).toEqual([]);
  const stop = new AbortController();
  const running = outbox.run(stop.signal);
  const saves = new PGliteOutbox(common); // it wakes the other by a notification
  const saveOne = async (): Promise<number> => {
    await saves.transaction((tx) => saves.save(tx, { topic: "a", key: "b", payload: 1 }));
    return publisher.confirmed.length;
  };
  await expect.poll(saveOne).toBeGreaterThan(1);
  stop.abort();
  await running;
  const { rows } = await pglite.query("SELECT 1 FROM pg_tables WHERE schemaname = 'public'");
  expect(rows).toEqual([]);
  await pglite.exec('DROP SCHEMA "Shop-1" CASCADE');
});
