import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { oldEnough } from "../../../../services/redis.mjs";
import { makeDatabase } from "../../../../test/make-database.ts";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { publicPackages, run } from "../../../../tools/packages.mjs";
import { installInto, packInto } from "../../../../tools/tarballs.mjs";

// A project outside the workspace with the tarballs of the controller and one driver, and nothing else.

const packages = publicPackages().filter(({ manifest }) =>
  ["clock", "wait", "controller"].some((name) => manifest.name === `@holdfast/${name}`),
);
const peers = packages.find(({ manifest }) => manifest.name === "@holdfast/controller")?.manifest
  .peerDependencies;
const folder = tempFolder();

beforeAll(() => packInto(folder, packages));

const cases = [
  {
    driver: "pg",
    url: () => makeDatabase(requiredUrl("DATABASE_URL")),
    lines: [
      'import { PostgresLock } from "@holdfast/controller/postgres-lock";',
      'import pg from "pg";',
      "const pool = new pg.Pool({ connectionString: process.argv[2] });",
      'const lock = new PostgresLock(pool, { name: "alone" });',
      "await lock.createTable();",
      "const end = () => pool.end();",
    ],
  },
  {
    driver: "mysql2",
    url: () => makeMySqlDatabase(requiredUrl("MYSQL_URL")),
    lines: [
      'import { MySqlLock } from "@holdfast/controller/mysql-lock";',
      'import { createPool } from "mysql2/promise";',
      "const pool = createPool(process.argv[2]);",
      'const lock = new MySqlLock(pool, { name: "alone" });',
      "await lock.createTable();",
      "const end = () => pool.end();",
    ],
  },
  {
    driver: "ioredis",
    url: async () => {
      const url = requiredUrl("REDIS_URL");
      await oldEnough(url, 15_000);
      return url;
    },
    lines: [
      'import { RedisLock } from "@holdfast/controller/redis-lock";',
      'import { Redis } from "ioredis";',
      "const redis = new Redis(process.argv[2]);",
      'const lock = new RedisLock(redis, { key: "alone" });',
      "const end = () => redis.disconnect();",
    ],
  },
];

/** Two terms of two electors, one after the other. */
const PROGRAM = [
  'import { LeaderElector } from "@holdfast/controller";',
  "const lead = (identity) => {",
  "  const led = async ({ token }) => console.log(identity, token);",
  "  return new LeaderElector({ lock, identity, once: true, lead: led }).run(new AbortController().signal);",
  "};",
  'await lead("a");',
  'await lead("b");',
  "await end();",
];

it.each(cases)("holds an election with the controller and $driver alone", async (each) => {
  const { driver, url, lines } = each;
  const project = join(folder, driver);
  mkdirSync(project);
  const own = packages.map(({ manifest }) => ({ manifest: { ...manifest, peerDependencies: {} } }));
  installInto(project, own, { [driver]: peers[driver] }, folder);
  for (const other of cases.filter((one) => one.driver !== driver))
    expect(() => run("node", ["-e", `require("${other.driver}")`], project)).toThrow(/Cannot find/);
  writeFileSync(join(project, "main.mjs"), [...lines, ...PROGRAM].join("\n"));
  const output = run("node", ["main.mjs", await url()], project);
  const [, first = "", second = ""] = /^a (\d+)\nb (\d+)\n$/.exec(output) ?? [];
  expect(Number(second)).toBeGreaterThan(Number(first));
  expect(Number(first)).toBeGreaterThan(0);
});
