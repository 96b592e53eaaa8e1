import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { FakeClock } from "@holdfast/clock/testing";
import { expect, it } from "vitest";
import { freePort } from "../../../../test/free-port.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { replay } from "../../src/outbox/dead-letters.ts";
import { fileProblem } from "../../src/outbox/file-problem.ts";
import { run } from "../../src/outbox/run.ts";
import { serviceProblem } from "../../src/outbox/service-problem.ts";
import { servicesOf } from "../../src/outbox/settings.ts";

// Sockets are real here.

const directory = tempFolder();

const SERVERS = [
  { variable: "DATABASE_URL", protocol: "postgres" },
  { variable: "MYSQL_URL", protocol: "mysql" },
  { variable: "AMQP_URL", protocol: "amqp" },
  { variable: "REDIS_URL", protocol: "redis" },
];

it.each(SERVERS)(
  "reports that the server of $variable is unreachable, without the password",
  async (row) => {
    const { variable, protocol } = row;
    const place = `127.0.0.1:${await freePort()}/0`;
    const services = servicesOf({ [variable]: `${protocol}://user:secret@${place}` });
    expect(await serviceProblem(services)).toBe(
      `${variable}: ${protocol}://${place} cannot be used: connect ECONNREFUSED. Start it, correct ${variable} or unset it.`,
    );
  },
);

it.each(SERVERS)("rejects a server that hangs up as that of $variable", async (row) => {
  const { variable, protocol } = row;
  await using server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const services = servicesOf({ [variable]: `${protocol}://127.0.0.1:${port}` });
  expect(await serviceProblem(services)).toContain(`${variable}: ${protocol}://127.0.0.1:${port}`);
});

it.each(SERVERS)(
  "reports that $variable is not a URL, without the password",
  async ({ variable, protocol }) => {
    const services = servicesOf({ [variable]: `${protocol}//user:secret@nowhere.invalid` });
    const problem = await serviceProblem(services);
    expect(problem).toMatch(
      new RegExp(`^${variable}: nowhere.invalid cannot be used: .+ unset it\\.$`),
    );
    expect(problem).not.toContain("secret");
  },
);

it.each([
  { env: {}, wanted: undefined, want: { database: "pglite", databaseUrl: undefined } },
  { env: { DATABASE_URL: "" }, wanted: undefined, want: { database: "pglite" } },
  {
    env: { DATABASE_URL: "p" },
    wanted: undefined,
    want: { database: "postgres", databaseUrl: "p" },
  },
  { env: { MYSQL_URL: "m" }, wanted: undefined, want: { database: "mysql", databaseUrl: "m" } },
  {
    env: { DATABASE_URL: "p", MYSQL_URL: "m" },
    wanted: "mysql",
    want: { database: "mysql", databaseUrl: "m" },
  },
  {
    env: { DATABASE_URL: "p", MYSQL_URL: "m" },
    wanted: "pglite",
    want: { database: "pglite", databaseUrl: undefined },
  },
] as const)("chooses $want.database for $wanted of $env", ({ env, wanted, want }) => {
  expect(servicesOf(env, wanted)).toMatchObject(want);
});

it.each([
  { database: "postgres", variable: "DATABASE_URL" },
  { database: "mysql", variable: "MYSQL_URL" },
] as const)("names the variable for --database $database", async (row) => {
  const { database, variable } = row;
  const problem = await serviceProblem(servicesOf({}, database));
  expect(problem).toMatch(
    new RegExp(
      `^--database ${database} needs ${variable}\\. Start a server and set ${variable}=\\S+, or use --database pglite\\.$`,
    ),
  );
});

// Of a server that answers: embedded.services.ts, where there is one.
it("ignores servers that are not needed", async () => {
  expect(await serviceProblem(servicesOf({}))).toBe(undefined);
});

/** Somebody who runs the program, and what is printed. */
function host() {
  let text = "";
  const write = (chunk: string): void => {
    text += chunk;
  };
  const stream = { write, on: () => stream } as unknown as NodeJS.WriteStream;
  return { clock: new FakeClock(), stdout: stream, stderr: stream, printed: () => text };
}

const settings = { messages: 1, workers: 1, kills: 0, seed: 1, port: undefined, keep: false };

it("exits with 2 before the run if a server is unreachable", async () => {
  const own = host();
  const services = servicesOf({ DATABASE_URL: `postgres://127.0.0.1:${await freePort()}` });
  const options = { settings: { ...settings, json: undefined }, services, host: own };
  expect(await run(options)).toBe(2);
  expect(await replay({ ids: undefined, services, host: own })).toBe(2);
  expect(own.printed()).toMatch(/^(DATABASE_URL: .+ unset it\.\n){2}$/);
});

it("exits with 2 before the run if its figures cannot be written", async () => {
  const own = host();
  const json = join(directory, "no", "figures.json");
  const services = servicesOf({});
  expect(await run({ settings: { ...settings, json }, services, host: own })).toBe(2);
  const problem = `${json} cannot be written to: ENOENT. Name another file with --json.\n`;
  expect(own.printed()).toBe(problem);
  expect(readdirSync(directory)).toEqual([]);
});

it("keeps the content of a file for figures", () => {
  const file = join(directory, "figures.json");
  writeFileSync(file, "{}");
  expect(fileProblem(file)).toBe(undefined);
  expect(readFileSync(file, "utf8")).toBe("{}");
  rmSync(file);
});
