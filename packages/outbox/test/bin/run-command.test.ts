import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { connect, TARGETS } from "../../src/bin/connect.ts";
import { mysqlParameters } from "../../src/bin/parameters.ts";
import { CommandWorld, message } from "./fake-io.ts";

const NAMES = "status, pause, resume, dead, migrate, page";
const DEAD_NAMES = "list, show, replay, discard";
const ID = "00000000-0000-4000-8000-000000000001";

describe("npx @holdfast/outbox", () => {
  it.each([["--help"], ["-h"], ["status --help"], ["dead discard --all --help"]])(
    "prints its usage for %s, and does nothing else",
    async (line) => {
      const { code, stdout, stderr } = await new CommandWorld().run(line.split(" "));
      expect([code, stdout.split("\n")[0], stderr]).toEqual([
        0,
        "npx @holdfast/outbox COMMAND",
        "",
      ]);
    },
  );

  it.each<[string, string]>([
    ["", `COMMAND must be one of ${NAMES}, got none; see --help`],
    ["stats", `COMMAND must be one of ${NAMES}, got stats; see --help`],
    ["status now", "Unexpected argument 'now'. This command does not take positional arguments"],
    ["pause", "pause needs one TOPIC; see --help"],
    ["pause a b", "pause needs one TOPIC; see --help"],
    ["resume", "resume needs one TOPIC; see --help"],
    ["resume a\0", "TOPIC must not contain NUL"],
    ["status --prefix", "Option '--prefix <value>' argument missing"],
    ["dead", `dead COMMAND must be one of ${DEAD_NAMES}, got none; see --help`],
    ["dead bury", `dead COMMAND must be one of ${DEAD_NAMES}, got bury; see --help`],
    ["dead list --limit 0", "--limit must be a whole number from 1 to 999999999, got 0"],
    ["dead list --limit 1e3", "--limit must be a whole number from 1 to 999999999, got 1e3"],
    ["dead list --topic=", '--topic must be a non-empty string, got ""'],
    ["dead show", "dead show needs one ID; see --help"],
    [`dead show ${ID} ${ID}`, "dead show needs one ID; see --help"],
    ["dead show 7", "ID must be a UUID"],
    ["dead replay", "give one of ID..., --topic TOPIC and --all; see --help"],
    ["dead replay --all --topic orders", "give one of ID..., --topic TOPIC and --all; see --help"],
    [`dead replay --all ${ID}`, "give one of ID..., --topic TOPIC and --all; see --help"],
    [`dead replay ${ID} --limit 1`, "--limit and --portion go with --topic and --all"],
    ["dead replay 7", "ID must be a UUID"],
    [
      "dead replay --all --portion 10001",
      "--portion must be a whole number from 1 to 10000, got 10001",
    ],
    ["dead discard --all", "dead discard needs --yes without a terminal"],
    ["page --port 65536", "--port must be a whole number from 0 to 65535, got 65536"],
  ])("refuses %j with one line and code 2", async (line, problem) => {
    const world = new CommandWorld();
    await world.die([message(1)]);
    const run = await world.run(line.split(" ").filter((word) => word !== ""));
    expect(run).toEqual({ code: 2, stdout: "", stderr: `error: ${problem}\n` });
    expect([world.open, (await world.store.backlog()).dead]).toEqual([0, 1]);
  });

  it.each<[string | undefined, string]>([
    [undefined, "--url URL is missing, and DATABASE_URL is not set; see --help"],
    ["", "--url URL is missing, and DATABASE_URL is not set; see --help"],
    ["oracle://h/db", `--url must be ${TARGETS}; got oracle://`],
    ["./none", `--url must be ${TARGETS}`],
    [
      "postgres://u:p@h:port/db",
      "--url is not a valid URL: are special characters percent-encoded?",
    ],
  ])("refuses the database %j", async (url, problem) => {
    const world = new CommandWorld();
    const { code, stderr } = await world.run(["status"], { env: { DATABASE_URL: url }, connect });
    expect([code, stderr]).toEqual([2, `error: ${problem}\n`]);
  });

  it.each([
    "postgres://db.example:5433/shop",
    "postgresql://db.example/shop",
    "mysql://db.example/shop",
    "mariadb://db.example:3307/shop",
  ])(
    "names the database %s without its credentials, and connects only when it is used",
    async (name) => {
      const url = `${name.replace("//", "//user:s3cret@")}?password=s3cret`;
      await using connection = await connect(url, "outbox_");
      expect(connection.name).toBe(name);
    },
  );

  it.each<[url: string, problem: string]>([
    [
      "mysql://h/db?ssl-mode=PREFERRED",
      "ssl-mode of --url must be one of DISABLED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY, got PREFERRED",
    ],
    [
      "mariadb://h/db?ssl-mode=",
      "ssl-mode of --url must be one of DISABLED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY, got nothing",
    ],
    [
      "mysql://h/db?ssl-mode=REQUIRED&ssl-mode=DISABLED",
      "--url must have the parameter ssl-mode once",
    ],
    ...["127.0.0.1", "[::1]"].map((host): [string, string] => [
      `mysql://${host}/db?ssl-mode=VERIFY_IDENTITY`,
      "ssl-mode=VERIFY_IDENTITY needs the name of a host in --url: the driver does not verify an address",
    ]),
    ["mysql://h/db?ssl-mode=DISABLED&ssl={}", "--url has ssl and ssl-mode: leave one out"],
    [
      "mysql://h/db?sslmode=require",
      "--url has the parameter sslmode, which would have no effect; it may have charset, compress, enableCleartextPlugin, socketPath, ssl, timezone, user, password, ssl-mode, ssl-ca",
    ],
    [
      "postgres://h/db?sslmode=allow",
      "sslmode of --url must be one of disable, prefer, require, verify-ca, verify-full, no-verify, got allow",
    ],
    [
      "postgres://h/db?sslmode=require&sslmode=disable",
      "--url must have the parameter sslmode once",
    ],
    ["postgresql://h/db?ssl=no", "ssl of --url must be one of true, 1, 0, got no"],
    [
      "postgres://h/db?channel_binding=require",
      "channel_binding of --url must be one of disable, prefer, got require",
    ],
    ...["ssl-mode=REQUIRED", "sslMode=require", "schema=shop", "query_timeout=1", "toString=1"].map(
      (parameter): [string, string] => [
        `postgres://h/db?${parameter}`,
        `--url has the parameter ${parameter.split("=")[0]}, which would have no effect; it may have user, password, host, port, application_name, fallback_application_name, client_encoding, options, statement_timeout, lock_timeout, idle_in_transaction_session_timeout, sslmode, sslrootcert, sslcert, sslkey, sslnegotiation, uselibpqcompat, ssl, channel_binding`,
      ],
    ),
  ])("refuses the URL %s, of which a part would be ignored", async (url, problem) => {
    const { code, stderr } = await new CommandWorld().run(["status", "--url", url], { connect });
    expect([code, stderr]).toEqual([2, `error: ${problem}\n`]);
  });

  it.each([
    ["mysql://u@h/db?ssl-mode=disabled", undefined],
    ["mysql://u@h/db", undefined],
    ["mysql://u@h/db?ssl-mode=required", { rejectUnauthorized: false }],
    ["mysql://u@h/db?ssl-mode=VERIFY_CA", { rejectUnauthorized: true }],
    ["mysql://u@h/db?ssl-mode=VERIFY_IDENTITY", { rejectUnauthorized: true, verifyIdentity: true }],
  ])("takes the settings of TLS from %s", (url, ssl) => {
    expect(mysqlParameters(url)).toEqual({ uri: "mysql://u@h/db", ...(ssl && { ssl }) });
  });

  it("takes user, password and a certificate from a URL of MySQL", () => {
    const ca = join(tempFolder(), "ca.pem");
    writeFileSync(ca, "certificate");
    const url = `mysql://h/db?user=u&password=p%23&ssl-ca=${ca}&timezone=Z`;
    const ssl = { rejectUnauthorized: true, ca: "certificate" };
    expect(mysqlParameters(url)).toEqual({ uri: "mysql://u:p%23@h/db?timezone=Z", ssl });
  });

  it.each(["0", "x", "86401"])("refuses --timeout %s", async (text) => {
    const { code, stderr } = await new CommandWorld().run(["status", "--timeout", text]);
    const problem = `--timeout must be a whole number from 1 to 86400, got ${text}`;
    expect([code, stderr]).toEqual([2, `error: ${problem}\n`]);
  });

  it("hands --timeout on, 60 s by default", async () => {
    const world = new CommandWorld();
    const seen: (number | undefined)[] = [];
    const open = async (_: string, __: string, timeout?: number) => {
      seen.push(timeout);
      return world.connection();
    };
    await world.run(["status"], { connect: open });
    await world.run(["status", "--timeout", "3600"], { connect: open });
    expect(seen).toEqual([60_000, 3_600_000]);
  });

  it.each([
    new Error("Query read timeout"),
    ...[1205, 1969, 3024].map((errno) => Object.assign(new Error("too long"), { errno })),
  ])("names --timeout after %s", async (error) => {
    const world = new CommandWorld();
    world.store.backlog = () => Promise.reject(error);
    expect((await world.run(["status"])).stderr).toBe(
      "error: a statement took longer than --timeout allows: raise it, or look for what holds a lock\n",
    );
  });

  it("notes before the result of each command that messages may be hidden", async () => {
    const world = new CommandWorld();
    Object.assign(world.store, { restriction: async () => "row level security" });
    const runs = [["status"], ["dead", "list"], ["dead", "replay", "--all"], ["migrate"]];
    for (const args of runs)
      expect((await world.run(args)).stderr).toMatch(/^warning: row level security\n/);
    Object.assign(world.store, { restriction: () => Promise.reject(new Error("away")) });
    expect(await world.run(["status"])).toMatchObject({ code: 2, stderr: "error: away\n" });
    expect(world.open).toBe(0);
  });

  it("refuses a prefix that is none before it connects", async () => {
    const world = new CommandWorld();
    const { stderr } = await world.run(["status", "--prefix", "a; drop"], { connect });
    expect(stderr).toBe(
      'error: --prefix must be 1 to 30 lower case letters, digits and underscores, not a digit first, got "a; drop"\n',
    );
  });

  it.each([
    [
      "postgres://h/db",
      'a"b',
      '--schema must be 1 to 63 letters, digits, underscores and hyphens, got "a\\"b"',
    ],
    ["mysql://h/db", "shop", "--schema is for PostgreSQL: on MySQL, --url names the database"],
  ])("refuses in %s the schema %s before it connects", async (url, schema, problem) => {
    const env = { DATABASE_URL: url };
    const { code, stderr } = await new CommandWorld().run(["status", "--schema", schema], {
      env,
      connect,
    });
    expect([code, stderr]).toEqual([2, `error: ${problem}\n`]);
  });

  it.each(TARGETS.match(/[a-z]+:\/\//g) ?? [])("takes %s, as its errors say", async (scheme) => {
    await using connection = await connect(`${scheme}host/shop`, "outbox_");
    expect(connection.name).toBe(`${scheme}host/shop`);
    expect((await new CommandWorld().run(["--help"])).stdout).toContain(scheme);
  });

  it.each(["42P01", "ER_NO_SUCH_TABLE"])("names migrate after the error %s", async (code) => {
    const world = new CommandWorld();
    const connection = world.connection({
      store: Object.assign(world.store, {
        backlog: () => Promise.reject(Object.assign(new Error("no outbox_message"), { code })),
      }),
    });
    const run = await world.run(["status"], { connect: async () => connection });
    expect(run).toEqual({
      code: 2,
      stdout: "",
      stderr:
        "error: there are no tables of this outbox: run npx @holdfast/outbox migrate, or name their --prefix\n",
    });
    expect(world.open).toBe(0);
  });

  it.each<[args: string[], env: string]>([
    [["status", "--url", "postgres://u:s%23cret@h/db"], ""],
    [["status", "--url=mysql://u:s%23cret@h/db"], ""],
    [["status", "postgres://u:s%23cret@h/db"], ""],
    [["status", "--url", "postgres:/u:s#cret@h/db"], ""],
    [["status", "--url", "u:s#cret@h/db"], ""],
    [["u:s#cret@h"], ""],
    [["status"], "postgres://u:s#cret@h/db"],
    [["status"], "postgres://h/db?user=u&password=s%23cret&sslmode=no"],
  ])("shows no password in the error of %j with DATABASE_URL %j", async (args, env) => {
    const world = new CommandWorld();
    const { code, stderr } = await world.run(args, {
      env: { DATABASE_URL: env },
      connect: async (url) => {
        throw new Error(`cannot connect to ${url}: s#cret is wrong, s%23cret too`);
      },
    });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: /)]);
    expect(stderr).not.toMatch(/s(#|%23)cret/);
  });

  it.each<[password: string, problem: string, shown: string]>([
    ["on", "connection lost, on is wrong", "connection lost, *** is wrong"],
    ["!pw!", "x!pw!y is wrong", "x***y is wrong"],
    ["100%", "got 100%.", "got ***."],
  ])(
    "replaces the password %j in the error %j, and no part of a word",
    async (password, problem, shown) => {
      const { stderr } = await new CommandWorld().run(["status"], {
        env: { DATABASE_URL: `postgres://user:${password}@h/db` },
        connect: () => Promise.reject(new Error(problem)),
      });
      expect(stderr).toBe(`error: ${shown}\n`);
    },
  );
});

describe("status", () => {
  it("counts messages, and tells that no relay claims those that are due", async () => {
    const world = new CommandWorld();
    const now = world.clock.now();
    await world.die([message(1)]);
    await world.store.transaction((tx) => world.store.save(tx, message(2), now));
    const lines = ["pending       1", "retrying      0", "dead          1", ""];
    await world.clock.step(59_999);
    const early = await world.run(["status"]);
    expect(early.stdout.split("\n").slice(0, 3)).toEqual(lines.slice(0, 3));
    expect(early.stdout).toContain("next attempt  1970-01-01T07:00:00Z (due for 59s)\n");
    expect(early.stderr).toBe("");
    await world.clock.step(1);
    const late = await world.run(["status"]);
    expect(late.stdout).toContain("(due for 1m)");
    expect(late.stderr).toBe("messages are due and no relay claims them: is one running?\n");
    const { stdout } = await world.run(["status", "--json"]);
    expect(JSON.parse(stdout)).toEqual({
      at: now + 60_000,
      pending: 1,
      retrying: 0,
      dead: 1,
      limit: 10_000,
      nextDue: now,
      paused: [],
    });
  });

  it("tells when a message is due that waits for its next attempt", async () => {
    const world = new CommandWorld();
    const now = world.clock.now();
    await world.store.transaction((tx) => world.store.save(tx, message(1), now));
    const { claims } = await world.store.claim({ relay: "r", now, until: now + 1, limit: 1 });
    const failure = { now, error: "HTTP 500", dueAt: now + 7_200_000 };
    await world.store.write(claims.map((claim) => ({ type: "failed", claim, failure })));
    const { stdout, stderr } = await world.run(["status"]);
    expect(stdout).toContain("retrying      1\n");
    expect(stdout).toContain("next attempt  1970-01-01T09:00:00Z (in 2h)\n");
    expect(stderr).toBe("");
  });

  it.each([
    [9_999, "9999"],
    [10_000, "10000 or more"],
  ])("says that it counts no further than 10,000: %i messages", async (count, text) => {
    const world = new CommandWorld();
    await world.store.transaction(async (tx) => {
      for (let n = 1; n <= count; n++) await world.store.save(tx, message(n), world.clock.now());
    });
    const { stdout } = await world.run(["status"]);
    expect(stdout).toContain(`pending       ${text}\n`);
  });

  it("names the topics that are paused, and does not call their messages late", async () => {
    const world = new CommandWorld();
    await world.store.transaction((tx) => world.store.save(tx, message(1), world.clock.now()));
    await world.clock.step(60_000);
    expect(await world.run(["pause", "orders"])).toEqual({
      code: 0,
      stdout: "orders is paused\n",
      stderr: "",
    });
    expect(await world.run(["pause", "orders", "--json"])).toEqual({
      code: 0,
      stdout: '{"paused":"orders"}\n',
      stderr: "it was before\n",
    });
    expect(await world.run(["status"])).toEqual({
      code: 0,
      stdout:
        "pending       1\nretrying      0\ndead          0\nnext attempt  none\npaused        orders\n",
      stderr: "",
    });
    const resumed = await world.run(["resume", "orders", "--json"]);
    expect(resumed).toEqual({ code: 0, stdout: '{"resumed":"orders"}\n', stderr: "" });
    const again = await world.run(["resume", "orders"]);
    expect(again).toEqual({ code: 1, stdout: "", stderr: "orders is not paused\n" });
    expect((await world.run(["status"])).stderr).toContain("is one running?");
  });

  it("names no instant if nothing is to be sent", async () => {
    const { stdout } = await new CommandWorld().run(["status"]);
    expect(stdout).toBe("pending       0\nretrying      0\ndead          0\nnext attempt  none\n");
  });
});

describe("migrate", () => {
  it.each<[string, string, string]>([
    ["migrate", "applied 1\n", ""],
    ["migrate --json", '{"applied":[1]}\n', ""],
    ["migrate --print", "CREATE TABLE t (n integer);\n", ""],
    ["migrate --print --json", '{"statements":["CREATE TABLE t (n integer)"]}\n', ""],
  ])("prints for %s", async (line, stdout, stderr) => {
    const run = await new CommandWorld().run(line.split(" "));
    expect(run).toEqual({ code: 0, stdout, stderr });
  });

  it("says that there is nothing to do", async () => {
    const world = new CommandWorld();
    const upToDate = { migrate: async () => [], pending: async () => [] };
    const io = { connect: async () => world.connection(upToDate) };
    const nothing = "the tables are up to date\n";
    expect(await world.run(["migrate"], io)).toEqual({ code: 0, stdout: nothing, stderr: "" });
    expect(await world.run(["migrate", "--print"], io)).toEqual({
      code: 0,
      stdout: "",
      stderr: nothing,
    });
  });
});
