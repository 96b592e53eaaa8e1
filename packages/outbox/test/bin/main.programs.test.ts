import { existsSync } from "node:fs";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { Outbox } from "@holdfast/outbox";
import { PGliteDatabase } from "@holdfast/outbox/pglite";
import { PostgresStore } from "@holdfast/outbox/postgres";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { message } from "./fake-io.ts";
import { runBin } from "./run-bin.ts";

describe("npx @holdfast/outbox on a folder of PGlite", () => {
  const folder = join(tempFolder(), "outbox");

  it("opens no folder that is none, and makes none", async () => {
    const { code, stdout, stderr } = await runBin(["status"], folder);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("a folder of PGlite, which has a file PG_VERSION");
    expect(existsSync(folder)).toBe(false);
  });

  // What the commands print is the matter of dead.test.ts; each process here starts a PGlite of its own.
  it("migrates, lists and replays in processes that find what the one before has left", async () => {
    await (await PGlite.create(folder)).close();
    const migrated = await runBin(["migrate"], folder);
    expect(migrated).toEqual({ code: 0, stdout: "applied 1\n", stderr: "" });
    {
      await using database = new PGliteDatabase(await PGlite.create(folder));
      const store = new PostgresStore(database);
      const transaction = database.transaction.bind(database);
      const outbox = new Outbox({ store, transaction });
      await outbox.transaction(async (tx) => {
        for (const n of [1, 2]) await outbox.save(tx, message(n));
      });
      const now = Date.now();
      const { claims } = await store.claim({ relay: "r", now, until: now + 1, limit: 2 });
      const failure = { now, error: "HTTP 500", dueAt: undefined };
      await store.write(claims.map((claim) => ({ type: "failed", claim, failure })));
    }
    const listed = await runBin(["dead", "list", "--json"], folder);
    const ids = listed.stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { readonly id: string }).id);
    expect(ids).toEqual([1, 2].map((n) => message(n).id));
    const replayed = await runBin(["dead", "replay", String(message(3).id), ...ids], folder);
    expect(replayed).toEqual({
      code: 1,
      stdout: "replayed 2\n",
      stderr: "1 of the 3 are no dead letters\n",
    });
  });
});
