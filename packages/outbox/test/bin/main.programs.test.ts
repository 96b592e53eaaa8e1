import { existsSync } from "node:fs";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { Outbox } from "@holdfast/outbox";
import { PGliteDatabase } from "@holdfast/outbox/pglite";
import { PostgresStore } from "@holdfast/outbox/postgres";
import { describe, expect, it } from "vitest";
import { startPGlite } from "../../../../test/empty-pglite.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { connect } from "../../src/bin/connect.ts";
import { CommandWorld, message } from "./fake-io.ts";
import { runBin } from "./run-bin.ts";

describe("npx @holdfast/outbox on a folder of PGlite", () => {
  const folder = join(tempFolder(), "outbox");

  it("opens no folder that is none, and makes none", async () => {
    const { code, stdout, stderr } = await runBin(["status"], folder);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("a folder of PGlite, which has a file PG_VERSION");
    expect(existsSync(folder)).toBe(false);
  });

  // What the commands print is the matter of dead.test.ts. Each start of a PGlite takes seconds of CPU.
  it("opens the folder, and finds in a process of its own what another has left", async () => {
    await (await startPGlite(folder)).close();
    const env = { DATABASE_URL: folder };
    {
      await using connection = await connect(folder, "outbox_");
      const kept = { ...connection, [Symbol.asyncDispose]: async () => undefined };
      const run = (...args: string[]) =>
        new CommandWorld().run(args, { env, connect: async () => kept });
      const { stdout } = await run("migrate", "--print");
      expect(stdout).toMatch(/^BEGIN;\nCREATE TABLE .*outbox_message.*;\nCOMMIT;\n$/s);
      expect(await run("migrate")).toEqual({
        code: 0,
        stdout: "applied 1, 2, 3, 4, 5\n",
        stderr: "",
      });
      const stderr = "the tables are up to date\n";
      expect(await run("migrate", "--print")).toEqual({ code: 0, stdout: "", stderr });
    }
    {
      await using database = new PGliteDatabase(await PGlite.create(folder));
      const store = new PostgresStore(database);
      const transaction = database.transaction.bind(database);
      const outbox = new Outbox({ store, transaction });
      await outbox.transaction(async (tx) => {
        for (const n of [1, 2, 3]) await outbox.save(tx, message(n));
      });
      const now = Date.now();
      const { claims } = await store.claim({ relay: "r", now, until: now + 1, limit: 2 });
      const failure = { now, error: "HTTP 500", dueAt: undefined };
      await store.write(claims.map((claim) => ({ type: "failed", claim, failure })));
    }
    const ids = [1, 2, 3].map((n) => String(message(n).id));
    expect(await runBin(["dead", "replay", ...ids], folder)).toEqual({
      code: 1,
      stdout: "replayed 2\n",
      stderr: "1 of the 3 are no dead letters\n",
    });
  });
});
