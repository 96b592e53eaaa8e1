import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { FakeClock } from "@holdfast/clock/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { processState } from "../../src/proc.ts";
import { COMMANDS } from "../../src/run/commands.ts";
import { holdfast } from "../holdfast.ts";
import { listen } from "../listen.ts";

const UID = process.getuid?.() ?? 0;
const ESCAPES = "\u001b[2J\u009b7C\u202e";
const TOKEN = "0".repeat(32);

/** Name of the entry of a living process of this user: the test. */
const LIVING = `${process.pid}-${processState(process.pid)?.startTime ?? ""}`;

/** A temporary folder with a folder of supervisors in it, which is private, and a server that should not be asked. */
async function machine(answer: RequestListener = (_, response) => response.end("[]")) {
  const temporary = tempFolder(onTestFinished);
  const manifest = join(temporary, "manifest.yaml");
  writeFileSync(manifest, "processes: { one: { shell: 'true', restart: Never } }");
  const base = join(temporary, `holdfast-${UID}`);
  const folder = join(base, createHash("sha256").update(manifest).digest("hex").slice(0, 16));
  const holders = join(folder, "holders");
  mkdirSync(holders, { recursive: true, mode: 0o700 });
  const asked: string[] = [];
  const port = await listen(
    createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      answer(request, response);
    }),
  );
  const env = { TMPDIR: temporary, XDG_RUNTIME_DIR: "" };
  const page = `http://127.0.0.1:${port}/`;
  const entry = { pid: process.pid, file: manifest, url: page, token: TOKEN };
  return { temporary, manifest, base, folder, holders, asked, env, port, page, entry };
}

type Machine = Awaited<ReturnType<typeof machine>>;

const READERS = [
  ["run", "status"],
  ["run", "logs", "web"],
  ["run", "restart", "web"],
];

/** Puts a link in the place of a folder, to a folder of the same content elsewhere. */
function linkInPlaceOf(path: string, elsewhere: string): void {
  renameSync(path, elsewhere);
  symlinkSync(elsewhere, path);
}

/** All files below a folder, with their text. */
function filesBelow(folder: string): Record<string, string> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    found
      .filter((one) => one.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path, readFileSync(path, "utf8")]),
  );
}

describe("the folder of the supervisors", () => {
  const victim = ({ temporary }: Machine) => join(temporary, "victim");
  const cases: [name: string, seize: (machine: Machine) => void][] = [
    ["is a link", (it) => linkInPlaceOf(it.base, victim(it))],
    ["has a link for a manifest", (it) => linkInPlaceOf(it.folder, victim(it))],
    ["has a link for its holders", (it) => linkInPlaceOf(it.holders, victim(it))],
    ["can be written by others", ({ base }) => chmodSync(base, 0o777)],
    [
      "can be written by a group",
      ({ base }) => chmodSync(base, 0o770) ?? chownSync(base, UID, 65_533),
    ],
    ["can be written by others below", ({ holders }) => chmodSync(holders, 0o707)],
    ["can be replaced by others", ({ temporary }) => chmodSync(temporary, 0o777)],
    ["is of another user", ({ base }) => chownSync(base, 65_534, 65_534)],
    ["is of another user below", ({ holders }) => chownSync(holders, 65_534, 65_534)],
    ["is in a folder of another user", ({ temporary }) => chownSync(temporary, 65_534, 65_534)],
  ];
  // Only root can give a folder to another user.
  const possible = cases.filter(([name]) => UID === 0 || !/user|group/.test(name));

  it.each(possible)("is left alone by every command if it %s", async (_, seize) => {
    const world = await machine();
    const { holders, env, asked, entry, manifest, temporary } = world;
    writeFileSync(join(holders, LIVING), JSON.stringify(entry), { mode: 0o600 });
    for (const name of ["2147483646-1", "2147483646-", "letters", "7"])
      writeFileSync(join(holders, name), "precious", { mode: 0o600 });
    seize(world);
    const before = filesBelow(temporary);
    for (const args of READERS) {
      const { code, stdout, lines } = await holdfast(args, { env });
      expect([args, code, stdout, lines.length]).toEqual([args, 125, "", 1]);
    }
    const { code, lines } = await holdfast(["run", manifest, "--no-page"], { env });
    expect([code, lines.slice(0, 2)]).toEqual([
      0,
      [
        expect.stringMatching(/can be written|that you alone can write in|other users can write/),
        "without a lock: another supervisor of this manifest will not be noticed",
      ],
    ]);
    expect(filesBelow(temporary)).toEqual(before);
    expect(asked).toEqual([]);
  });

  it("loses entries of dead supervisors, and nothing else", async () => {
    const { holders, env, folder } = await machine();
    for (const name of ["2147483646-1", "letters", "7", "8-1.txt", "-1-1"])
      writeFileSync(join(holders, name), "");
    mkdirSync(join(holders, "2147483645-1"));
    symlinkSync(join(holders, "letters"), join(holders, "2147483644-1"));
    writeFileSync(join(folder, "2147483646-1"), "");
    expect((await holdfast(["run", "status"], { env })).code).toBe(2);
    expect(readdirSync(holders).toSorted()).toEqual(
      ["-1-1", "2147483644-1", "2147483645-1", "7", "8-1.txt", "letters"].toSorted(),
    );
    expect(readdirSync(folder).toSorted()).toEqual(["2147483646-1", "holders"]);
  });

  const entries: [name: string, make: (path: string, machine: Machine) => void][] = [
    ["a pipe", (path) => void execFileSync("mkfifo", [path])],
    ["a folder", (path) => void mkdirSync(path)],
    [
      "a link",
      (path, { temporary, entry }) => {
        writeFileSync(join(temporary, "elsewhere"), JSON.stringify(entry), { mode: 0o600 });
        symlinkSync(join(temporary, "elsewhere"), path);
      },
    ],
    ["empty", (path) => writeFileSync(path, "")],
    ["a number", (path) => writeFileSync(path, "5")],
    ["nothing", (path) => writeFileSync(path, "null")],
    ["too long", (path, { entry }) => writeFileSync(path, JSON.stringify(entry).padEnd(40_000))],
    [
      "for others to write",
      (path, { entry }) => {
        writeFileSync(path, JSON.stringify(entry));
        chmodSync(path, 0o666);
      },
    ],
    ...[
      "http://localhost:PORT/",
      "http://127.0.0.1:PORT/x",
      "http://u@127.0.0.1:PORT/",
      "https://127.0.0.1:PORT/",
      "http://127.0.0.1:PORT@host/",
      "http://192.0.2.1:PORT/",
      "file:///etc/passwd",
    ].map((url): [string, (path: string, machine: Machine) => void] => [
      `about ${url}`,
      (path, { entry, port }) =>
        writeFileSync(path, JSON.stringify({ ...entry, url: url.replace("PORT", `${port}`) })),
    ]),
    [
      "without a token",
      (path, { entry }) => writeFileSync(path, JSON.stringify({ ...entry, token: 1 })),
    ],
    [
      "with another token",
      (path, { entry }) => writeFileSync(path, JSON.stringify({ ...entry, token: "a\r\nb: c" })),
    ],
    [
      "without a file",
      (path, { entry }) => writeFileSync(path, JSON.stringify({ ...entry, file: {} })),
    ],
  ];

  it.each(entries)("has no supervisor by an entry that is %s", async (_, make) => {
    const world = await machine();
    make(join(world.holders, LIVING), world);
    for (const args of READERS)
      expect(await holdfast(args, { env: world.env })).toEqual({
        code: 2,
        stdout: "",
        lines: ["error: no holdfast run with a page is running"],
      });
    expect(world.asked).toEqual([]);
    expect(readdirSync(world.holders)).toEqual([LIVING]);
  });

  it("has several, whose names are printed without escape codes", async () => {
    const { base, env, entry } = await machine();
    for (const name of ["0".repeat(16), "1".repeat(16)]) {
      mkdirSync(join(base, name, "holders"), { recursive: true, mode: 0o700 });
      const file = `${name}${ESCAPES}`;
      writeFileSync(join(base, name, "holders", LIVING), JSON.stringify({ ...entry, file }));
    }
    const { code, lines } = await holdfast(["run", "status"], { env });
    expect([code, lines]).toEqual([
      2,
      [
        `error: several are running, choose one with --file: ${"0".repeat(16)}\ufffd[2J\ufffd7C\ufffd, ${"1".repeat(16)}\ufffd[2J\ufffd7C\ufffd`,
      ],
    ]);
  });
});

describe("an answer of another process", () => {
  async function supervised(answer: RequestListener) {
    const world = await machine(answer);
    writeFileSync(join(world.holders, LIVING), JSON.stringify(world.entry), { mode: 0o600 });
    return world;
  }
  const shown = "\ufffd[2J\ufffd7C\ufffd";

  it("is printed without escape codes", async () => {
    const process = {
      name: `a${ESCAPES}`,
      phase: `b${ESCAPES}`,
      restarts: 0,
      lastExit: `c\n${ESCAPES}`,
    };
    const { env } = await supervised(({ url = "" }, response) => {
      if (url.startsWith("/status")) response.end(JSON.stringify({ processes: [process] }));
      else if (url.startsWith("/logs")) response.end(JSON.stringify([`d\n${ESCAPES}`]));
      else response.writeHead(500).end(`e\n${ESCAPES}`);
    });
    const [status, logs, restart] = await Promise.all(
      READERS.map((args) => holdfast(args, { env })),
    );
    expect(status).toEqual({
      code: 0,
      stdout: `a${shown}: b${shown}, 0 restarts, c ${shown}\n`,
      lines: [],
    });
    expect(logs).toEqual({ code: 0, stdout: `d ${shown}\n`, lines: [] });
    expect(restart).toEqual({ code: 125, stdout: "", lines: [`e ${shown}`] });
  });

  it("is not read without end", async () => {
    const chunk = Buffer.alloc(1_000_000, " ");
    const { env } = await supervised((_, response) => {
      const more = (): void => {
        while (response.write(chunk));
      };
      response.on("drain", more).on("error", () => undefined);
      more();
    });
    for (const args of READERS)
      expect(await holdfast(args, { env })).toEqual({
        code: 125,
        stdout: "",
        lines: [`process ${process.pid} gave too long an answer`],
      });
  });

  /** Writes more than what lies between two programs, and tells when some of it was read. */
  const begin: RequestListener = (_, response) => {
    response.once("drain", () => begun++).write(Buffer.alloc(20_000_000, " "));
  };
  let begun = 0;

  it.each([
    ["", () => undefined],
    [", once it has begun", begin],
  ] satisfies [string, RequestListener][])("is not waited for without end%s", async (_, answer) => {
    const { env, asked } = await supervised(answer);
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const [, command = "", ...own] of READERS) {
      const clock = new FakeClock();
      const before = asked.length;
      begun = 0;
      const ended = COMMANDS.get(command)?.({ own, command: undefined }, clock);
      const outcome = expect(ended).rejects.toThrow(
        `process ${process.pid} did not answer within 10s`,
      );
      await expect.poll(() => asked.length).toBe(before + 1);
      if (answer === begin) await expect.poll(() => begun).toBe(1);
      await clock.step(9_999);
      expect(clock.waiters()).toBe(1);
      await clock.step(1);
      await outcome;
      expect(clock.waiters()).toBe(0);
    }
  });
});
