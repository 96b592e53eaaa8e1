import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { crdOf } from "../../test/crd.ts";
import { tempFolder } from "../../test/temp-folder.ts";

// Each path that an argument or a manifest names, for all commands: a file there is read to a bound, and nothing else
// there holds a command up.

const folder = tempFolder();
const server = createServer();
const at = (name: string) => join(folder, name);

/** What may be at a path in place of a file that is meant. */
const KINDS = ["missing", "directory", "fifo", "socket", "endless", "huge"] as const;
type Kind = (typeof KINDS)[number];

beforeAll(async () => {
  mkdirSync(at("directory"));
  spawnSync("mkfifo", [at("fifo")]);
  symlinkSync("/dev/zero", at("endless"));
  writeFileSync(at("huge"), "#!/none/such\n", { mode: 0o755 });
  truncateSync(at("huge"), 3_000_000_000); // It takes no room.
  await new Promise<void>((resolve) => server.listen(at("socket"), resolve));
  writeFileSync(at("widgets.mjs"), `export const Widget = { crd: ${JSON.stringify(CRD)} };`);
});

afterAll(() => server.close());

const CRD = crdOf({ kind: "Widget" });

interface Door {
  readonly command:
    | "cli/dist/main.js"
    | "fake-apiserver/dist/bin/main.js"
    | "kubernetes/dist/bin/main.js"
    | "outbox/dist/bin/main.js";

  /** The arguments for a path. */
  readonly args: (path: string, kind: Kind) => readonly string[];

  /** Kinds that are something else here: a pipe that is read to its end, because a shell makes one of `<(…)`. */
  readonly without?: readonly Kind[];

  readonly isStdin?: boolean;
}

const PIPES = ["fifo"] as const;
const holdfast = "cli/dist/main.js";
const kubernetes = "kubernetes/dist/bin/main.js";

const DOORS: Readonly<Record<string, Door>> = {
  "wait --cacert": {
    command: holdfast,
    args: (path) => ["wait", "--cacert", path, "--timeout", "1s", "tcp://127.0.0.1:1"],
  },
  "a manifest of run": { command: holdfast, args: (path) => ["run", path], without: PIPES },
  "run check": { command: holdfast, args: (path) => ["run", "check", path], without: PIPES },
  "run import": { command: holdfast, args: (path) => ["run", "import", path], without: PIPES },
  "an envFile": {
    command: holdfast,
    args: (path, kind) => {
      const manifest = at(`env-${kind}.yaml`);
      writeFileSync(
        manifest,
        JSON.stringify({ processes: { a: { command: "true", envFile: path } } }),
      );
      return ["run", manifest];
    },
  },
  "retry --stdin": {
    command: holdfast,
    args: () => ["retry", "--stdin", "--", "true"],
    isStdin: true,
    without: ["missing", "fifo", "socket"],
  },
  "a script": {
    command: holdfast,
    args: (path) => ["retry", "--attempts", "1", "--", path],
  },
  types: { command: kubernetes, args: (path) => ["types", path], without: PIPES },
  rules: {
    command: "fake-apiserver/dist/bin/main.js",
    args: (path) => ["rules", path],
    without: PIPES,
  },
  "manifests --check": {
    command: kubernetes,
    args: (path, kind) => {
      const out = at(`out-${kind}`);
      mkdirSync(out);
      symlinkSync(path, join(out, "widgets.example.org.yaml"));
      return ["manifests", at("widgets.mjs"), "--out", out, "--check"];
    },
  },
  "ssl-ca of the outbox": {
    command: "outbox/dist/bin/main.js",
    args: (path) => [
      "status",
      "--url",
      `mysql://u:p@127.0.0.1:1/db?ssl-ca=${encodeURIComponent(path)}`,
    ],
  },
};

test.each(
  Object.entries(DOORS).flatMap(([name, door]) =>
    KINDS.filter((kind) => !door.without?.includes(kind)).map(
      (kind) => [name, kind, door] as const,
    ),
  ),
)("%s ends with a message if its file is %s", (_, kind, { command, args, isStdin = false }) => {
  const stdin = isStdin ? openSync(at(kind), "r") : undefined;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [`packages/${command}`, ...args(at(kind), kind)],
    { stdio: [stdin ?? "ignore", "pipe", "pipe"], encoding: "utf8", timeout: 60_000 },
  );
  if (stdin !== undefined) closeSync(stdin);
  expect(status, stderr).not.toBeNull(); // killed: it hung
  expect(status, stderr).not.toBe(0);
  const lines = `${stdout}${stderr}`.split("\n").filter(Boolean);
  expect(lines.length, stderr).toBeLessThanOrEqual(4);
  expect(`${stdout}${stderr}`).not.toContain("    at ");
});
