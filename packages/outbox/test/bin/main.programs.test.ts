import { existsSync } from "node:fs";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { Outbox } from "../../src/outbox.ts";
import { PGliteDatabase } from "../../src/pglite/pglite-database.ts";
import { PostgresStore } from "../../src/postgres/postgres-store.ts";
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

  it("migrates, and lists, shows, replays and discards dead letters", async () => {
    await (await PGlite.create(folder)).close();
    const missing = await runBin(["status"], folder);
    expect([missing.code, missing.stderr]).toEqual([
      2,
      "error: there are no tables of this outbox: run npx @holdfast/outbox migrate, or name their --prefix\n",
    ]);
    expect(await runBin(["migrate"], folder)).toEqual({
      code: 0,
      stdout: "applied 1\n",
      stderr: "",
    });
    {
      await using database = new PGliteDatabase(await PGlite.create(folder));
      const store = new PostgresStore(database);
      const transaction = database.transaction.bind(database);
      const outbox = new Outbox({ store, transaction });
      await outbox.transaction(async (tx) => {
        for (const n of [1, 2, 3]) await outbox.save(tx, message(n));
      });
      const now = Date.now();
      const { claims } = await store.claim({ relay: "r", now, until: now + 1, limit: 3 });
      const failure = { now, error: "HTTP 500", dueAt: undefined };
      await store.write(claims.map((claim) => ({ type: "failed", claim, failure })));
    }
    const listed = await runBin(["dead", "list", "--json"], folder);
    const ids = listed.stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { readonly id: string }).id);
    expect(ids).toEqual([1, 2, 3].map((n) => message(n).id));
    const [first = "", second = ""] = ids;
    expect((await runBin(["dead", "show", first], folder)).stdout).toContain(
      'payload         {"n":1}',
    );
    expect((await runBin(["dead", "replay", first], folder)).stdout).toBe("replayed 1\n");
    const asked = await runBin(["dead", "discard", second], folder);
    expect([asked.code, asked.stderr]).toEqual([
      2,
      "error: dead discard needs --yes without a terminal\n",
    ]);
    const discarded = await runBin(["dead", "discard", second, first, "--yes"], folder);
    expect(discarded).toEqual({
      code: 1,
      stdout: "discarded 1\n",
      stderr: "1 of the 2 are no dead letters\n",
    });
    const { stdout } = await runBin(["status", "--json"], folder);
    expect(JSON.parse(stdout)).toMatchObject({ pending: 1, retrying: 0, dead: 1 });
  });
});
