import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { migrate, PgDatabase, PostgresStore } from "@holdfast/outbox/postgres";
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { makeDatabase } from "../../../../test/make-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { PATIENCE, useBrowser, visit } from "./browser.ts";

// The page of `npx @holdfast/outbox page`, in a real browser.

useBrowser();

const BIN = fileURLToPath(new URL("../../../outbox/dist/bin/main.js", import.meta.url));

it(
  "shows the dead letters of an outbox as text, and follows them",
  async () => {
    const databaseUrl = await makeDatabase(requiredUrl("DATABASE_URL"));
    await using database = new PgDatabase(new pg.Pool({ connectionString: databaseUrl }));
    await migrate(database);
    const store = new PostgresStore(database);
    const die = async (key: string): Promise<void> => {
      const now = Date.now();
      await database.transaction((tx) => store.save(tx, { topic: "a", key, payload: 1 }, now));
      const { claims } = await store.claim({ relay: "r", now, until: now + 1, limit: 1 });
      const failure = { now, error: "HTTP 500 <b>", dueAt: undefined };
      await store.write(claims.map((claim) => ({ type: "failed", claim, failure })));
    };
    await die("<img src=x onerror=alert(1)>");
    const child = spawn(process.execPath, [BIN, "page"], {
      env: { ...process.env, DATABASE_URL: databaseUrl },
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill());
    const url = await new Promise<string>((resolve) => {
      child.stdout.setEncoding("utf8").once("data", (text: string) => resolve(text.trim()));
    });
    await using visitor = await visit(url);
    const { page, problems } = visitor;
    await page.getByRole("cell", { name: "<img src=x onerror=alert(1)>", exact: true }).waitFor();
    await page.getByRole("status").filter({ hasText: "live" }).waitFor();
    await die("order/2");
    // What a receiver has said, which needs the token also in the stream of changes.
    const row = page.getByRole("row").filter({ hasText: "order/2" });
    await row.getByRole("cell", { name: "HTTP 500 <b>", exact: true }).waitFor();
    await using stranger = await visit(new URL(url).origin);
    await stranger.page.getByRole("status").filter({ hasText: "live" }).waitFor();
    await stranger.page.getByRole("cell", { name: "order/2", exact: true }).waitFor();
    expect(await stranger.page.getByRole("cell", { name: /HTTP 500/ }).count()).toBe(0);
    // They are counted before the letters are read.
    await expect
      .poll(() => page.locator("#counts dd").allInnerTexts())
      .toEqual(["0", "0", "2", "none"]);
    expect(problems).toEqual([]);
  },
  4 * PATIENCE,
);
