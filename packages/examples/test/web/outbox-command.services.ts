import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { migrate, PgDatabase, PostgresStore } from "@holdfast/outbox/postgres";
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { makeDatabase } from "../../../../test/make-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { LOOKS, PATIENCE, useBrowser, visit } from "./browser.ts";
import { shoot } from "./shoot.ts";

// The page of `npx @holdfast/outbox page`, in a real browser.

useBrowser();

const BIN = fileURLToPath(new URL("../../../outbox/dist/bin/main.js", import.meta.url));

/** An outbox with its page, and what makes a dead letter of a topic. */
async function serve() {
  const databaseUrl = await makeDatabase(requiredUrl("DATABASE_URL"));
  const database = new PgDatabase(new pg.Pool({ connectionString: databaseUrl }));
  onTestFinished(() => database[Symbol.asyncDispose]());
  await migrate(database);
  const store = new PostgresStore(database);
  const save = async (topic: string, key: string) => {
    const now = Date.now();
    await database.transaction((tx) => store.save(tx, { topic, key, payload: 1 }, now));
    return { now, ...(await store.claim({ relay: "r", now, until: now + 1, limit: 1 })) };
  };
  const die = async (key: string, topic = "a"): Promise<void> => {
    const { now, claims } = await save(topic, key);
    const failure = { now, error: "HTTP 500 <b>", dueAt: undefined };
    await store.write(claims.map((claim) => ({ type: "failed", claim, failure })));
  };
  const deliver = async (key: string, topic = "a"): Promise<void> => {
    const { now, claims } = await save(topic, key);
    await store.write(claims.map((claim) => ({ type: "delivered", claim, now })));
  };
  const start = async (): Promise<string> => {
    const child = spawn(process.execPath, [BIN, "page"], {
      env: { ...process.env, DATABASE_URL: databaseUrl },
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill());
    return await new Promise<string>((resolve) => {
      child.stdout.setEncoding("utf8").once("data", (text: string) => resolve(text.trim()));
    });
  };
  return { store, die, deliver, start };
}

it(
  "shows the dead letters of an outbox as text, and follows them",
  async () => {
    const { die, start } = await serve();
    await die("<img src=x onerror=alert(1)>");
    const url = await start();
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

it.each(LOOKS)(
  "shows topics and replays a topic at $width px, $colorScheme",
  async ({ colorScheme, width }) => {
    const { store, die, deliver, start } = await serve();
    for (const key of ["1", "2", "3"]) await die(key, "orders.paid");
    await die("4", "offers");
    for (let number = 5; number < 25; number++) await deliver(`${number}`, "orders.paid");
    const url = await start();
    const viewport = { width, height: 800 };
    await using visitor = await visit(url, { viewport, colorScheme });
    const { page, problems } = visitor;
    page.on("dialog", (dialog) => void dialog.accept());
    const topic = page.getByRole("listitem").filter({ hasText: "orders.paid" });
    await topic.getByText("20", { exact: true }).first().waitFor();
    await page.getByRole("status").filter({ hasText: "live" }).waitFor();
    for (const part of ["body", "main"])
      expect(await page.locator(part).evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
    await shoot(page, `outbox-${colorScheme}-${width}`);
    await topic.getByRole("button", { name: "Replay the dead letters of orders.paid" }).click();
    await page.getByText("Replayed 3 of orders.paid.", { exact: true }).waitFor();
    expect(await store.counts()).toMatchObject({ pending: 3, dead: 1 });
    await using stranger = await visit(new URL(url).origin);
    await stranger.page.getByRole("heading", { name: "orders.paid" }).waitFor();
    expect(await stranger.page.getByRole("button").count()).toBe(0);
    expect(problems).toEqual([]);
  },
  4 * PATIENCE,
);
