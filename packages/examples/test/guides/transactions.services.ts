import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { expect, it } from "vitest";
import { makeDatabase } from "../../../../test/make-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";

// The first program of docs/database-transactions.md, in a process of its own.

const GUIDE = new URL("../../../../docs/database-transactions.md", import.meta.url);
const [, program = ""] = /```ts no-run\n(.*?)```/s.exec(readFileSync(GUIDE, "utf8")) ?? [];

const BEFORE = `
import pgOfTest from "pg";
const admin = new pgOfTest.Client();
await admin.connect();
await admin.query("CREATE TABLE account (id text, balance integer)");
await admin.query("INSERT INTO account VALUES ('ann', 10), ('bob', 0)");
const balances = async () => {
  const { rows } = await admin.query("SELECT balance FROM account ORDER BY id");
  console.log(rows.map(({ balance }) => balance).join(" "));
};
/** Ends the session of a connection, and waits until the process has heard of it. */
const end = async (client) => {
  const ended = new Promise((resolve) => client.once("end", resolve));
  const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
  await admin.query("SELECT pg_terminate_backend($1)", [rows[0].pid]);
  await ended;
};
`;
const AFTER = `
await balances();
await transaction(async (client) => {
  await client.query("UPDATE account SET balance = 99");
  await end(client);
  await client.query("UPDATE account SET balance = 98");
}).catch(() => console.log("rejects"));
await transaction(end).catch(() => console.log("rejects at COMMIT"));
const idle = await transaction(async (client) => client);
await end(idle);
await transaction((client) => client.query("UPDATE account SET balance = balance + 1"));
await balances();
process.exit();
`;

it("survives a session that the server ends, idle and between two statements", async () => {
  const { hostname, port, username, password, pathname } = new URL(
    await makeDatabase(requiredUrl("DATABASE_URL")),
  );
  const env = {
    ...process.env,
    ...{ PGHOST: hostname, PGPORT: port, PGUSER: username },
    ...{ PGPASSWORD: password, PGDATABASE: pathname.slice(1) },
  };
  const { outputText } = ts.transpileModule(program, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
  });
  const text = BEFORE + outputText + AFTER;
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", text], {
    cwd,
    env,
  });
  expect((await run).stdout.trim().split("\n")).toEqual([
    "0 10",
    "rejects",
    "rejects at COMMIT",
    "1 11",
  ]);
});
