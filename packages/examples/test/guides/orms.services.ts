import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { migrate, PgDatabase, PostgresStore } from "@holdfast/outbox/postgres";
import { poll } from "@holdfast/wait";
import pg from "pg";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { makeDatabase } from "../../../../test/make-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { registryProblem } from "../../../../tools/registry-problem.mjs";

// The files of docs/outbox-orms.md, compiled and run with the ORMs that the guide names. They are no dependencies of this
// repository: they are installed once into the user's cache, without their scripts.

const exec = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const VERSIONS = {
  "@mikro-orm/core": "6.6.16",
  "@mikro-orm/postgresql": "6.6.16",
  "@prisma/adapter-pg": "7.10.0",
  "@prisma/client": "7.10.0",
  "@types/node": "22.15.0",
  "@types/pg": "8.23.1",
  "drizzle-orm": "0.45.4",
  knex: "3.3.0",
  kysely: "0.28.18",
  pg: "8.23.1",
  prisma: "7.10.0",
  sequelize: "6.37.8",
  typeorm: "1.1.1",
};
const until = (isThere: () => boolean): Promise<unknown> =>
  poll(isThere, { backoff: { duration: 20 }, timeout: 30_000 });
const NAMES = ["drizzle", "kysely", "prisma", "knex", "typeorm", "sequelize", "mikro-orm"];

/** The files of the guide, by name. */
function files(): ReadonlyMap<string, string> {
  const guide = readFileSync(join(ROOT, "docs/outbox-orms.md"), "utf8");
  const blocks = [...guide.matchAll(/```(?:mts|prisma)\n\/\/ (\S+)\n(.*?)```/gs)];
  return new Map(blocks.map(([, name = "", text = ""]) => [name, text]));
}

const MANIFEST = JSON.stringify({ private: true, type: "module", dependencies: VERSIONS });
const HASH = createHash("sha256").update(MANIFEST).digest("hex").slice(0, 16);
const CACHE = process.env["HOLDFAST_CACHE"] ?? join(homedir(), ".cache/holdfast");
const INSTALLED = join(CACHE, `orms-${HASH}`);

/** Installs the ORMs unless they are there. */
async function install(): Promise<void> {
  if (existsSync(INSTALLED)) return;
  mkdirSync(CACHE, { recursive: true });
  const fresh = mkdtempSync(`${INSTALLED}-`);
  writeFileSync(join(fresh, "package.json"), MANIFEST);
  await exec("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: fresh });
  renameSync(fresh, INSTALLED);
}

/** A project with the files of the guide, compiled. */
async function build(): Promise<string> {
  const project = tempFolder();
  for (const name of readdirSync(join(INSTALLED, "node_modules")))
    link(join(INSTALLED, "node_modules", name), join(project, "node_modules", name));
  for (const name of ["clock", "controller", "kit", "outbox", "wait"])
    link(join(ROOT, "packages", name), join(project, "node_modules/@holdfast", name));
  for (const [name, text] of files()) writeFileSync(join(project, name), text);
  const options = {
    target: "es2023",
    module: "nodenext",
    strict: true,
    skipLibCheck: true,
    exactOptionalPropertyTypes: true,
    rewriteRelativeImportExtensions: true,
    types: ["node"],
  };
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
  const include = ["*.mts", "generated"];
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({ compilerOptions: options, include }),
  );
  // It generates without its engine, which it would load first.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath };
  const prisma = join(INSTALLED, "node_modules/prisma/build/index.js");
  const run = { cwd: project, env };
  await exec(process.execPath, [prisma, "generate", "--schema", "schema.prisma"], run);
  await exec(join(ROOT, "node_modules/.bin/tsc"), ["-p", "."], run).catch((error) => {
    throw new Error(`the files of the guide do not compile:\n${error.stdout}`);
  });
  return project;
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

/** Pays orders 1 and 2, in a process of its own, and prints how each ended. */
const MAIN = `
import { inspect } from "node:util";
const { pay, close } = await import(process.argv[1]);
const { pool } = await import(new URL("outbox.mjs", process.argv[1]));
for (const number of [1, 2])
  await pay(number).then(() => console.log("paid"), (error) => console.log(inspect(error)));
await close?.();
await pool.end();
`;

let project: string;
const problem = existsSync(INSTALLED) ? undefined : await registryProblem();

describe.skipIf(problem !== undefined)(
  `the code of the guide for${problem ? `, NOT RUN: ${problem}` : ""}`,
  () => {
    beforeAll(async () => {
      await install();
      project = await build();
    }, 600_000);

    it.each(NAMES)("%s saves the message in the transaction of the order", async (name) => {
      const url = await makeDatabase(requiredUrl("DATABASE_URL"));
      const database = new PgDatabase(new pg.Pool({ connectionString: url }));
      onTestFinished(() => database[Symbol.asyncDispose]());
      await migrate(database);
      for (const text of [
        "CREATE TABLE orders (number integer PRIMARY KEY, paid boolean NOT NULL DEFAULT false)",
        "INSERT INTO orders (number) VALUES (1), (2)",
        `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'refused by the commit'; END $$`,
        `CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON orders DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (new.number = 2) EXECUTE FUNCTION refuse()`,
      ])
        await database.query(text);
      const heard: string[] = [];
      const stop = new AbortController();
      const store = new PostgresStore(database);
      const listening = store.listen?.(() => heard.push("message"), stop.signal);
      onTestFinished(async () => {
        stop.abort();
        await listening;
      });
      await until(() => heard.length === 1); // It listens.

      const file = pathToFileURL(join(project, `${name}.mjs`)).href;
      const env = { ...process.env, DATABASE_URL: url };
      const args = ["--input-type=module", "-e", MAIN, file];
      const { stdout } = await exec(process.execPath, args, { cwd: project, env });
      expect(stdout).toMatch(/^paid\n.*refused by the commit/s);
      const orders = await database.query("SELECT number, paid FROM orders ORDER BY number");
      expect(orders).toEqual([
        { number: 1, paid: true },
        { number: 2, paid: false },
      ]);
      const now = Date.now() + 1_000;
      const { claims } = await store.claim({ relay: "a", now, until: now, limit: 10 });
      expect(claims.map(({ message: { topic, key, payload } }) => [topic, key, payload])).toEqual([
        ["orders.paid", "order/1", { number: 1, text: "ü $1 ? :a" }],
      ]);
      await until(() => heard.length === 2); // committed() has notified.
    });
  },
);
