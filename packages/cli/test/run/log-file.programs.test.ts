import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { LogFile } from "../../src/run/machine/log-file.ts";
import { Supervised } from "./supervised.ts";

const UID = process.getuid?.() ?? 0;

/** A folder for logs in a folder of its own, and a file elsewhere that nothing may be added to. */
function world() {
  const root = tempFolder(onTestFinished);
  const [logs, precious] = [join(root, "a/logs"), join(root, "precious")];
  writeFileSync(precious, "precious", { mode: 0o600 });
  const problems: string[] = [];
  const log = new LogFile(logs, "web.log", (problem) => problems.push(problem));
  return { root, logs, file: join(logs, "web.log"), precious, log, problems };
}

type World = ReturnType<typeof world>;

/** Makes the folder, or other folders, as a user does. */
function make(...folders: string[]): void {
  for (const folder of folders) mkdirSync(folder, { recursive: true, mode: 0o755 });
}

describe("a log", () => {
  const foreign: [name: string, seize: (world: World) => void][] = [
    [
      "is a link",
      ({ logs, file, precious }) => {
        make(logs);
        symlinkSync(precious, file);
      },
    ],
    [
      "is a link to nothing",
      ({ root, logs, file }) => {
        make(logs);
        symlinkSync(join(root, "new"), file);
      },
    ],
    [
      "has another name elsewhere",
      ({ logs, file, precious }) => {
        make(logs);
        linkSync(precious, file);
      },
    ],
    [
      "is a pipe",
      ({ logs, file }) => {
        make(logs);
        execFileSync("mkfifo", [file]);
      },
    ],
    ["is a folder", ({ file }) => make(file)],
    [
      "can be written by others",
      ({ logs, file }) => {
        make(logs);
        writeFileSync(file, "");
        chmodSync(file, 0o666);
      },
    ],
    [
      "is in a folder that others can write in",
      ({ logs }) => {
        make(logs);
        chmodSync(logs, 0o777);
      },
    ],
    [
      "is in a sticky folder for all",
      ({ logs }) => {
        make(logs);
        chmodSync(logs, 0o1777);
      },
    ],
    [
      "is in a folder that others can replace",
      ({ root, logs }) => {
        make(logs);
        chmodSync(join(root, "a"), 0o777);
      },
    ],
    [
      "is to be in a folder that others can write in",
      ({ root }) => {
        make(join(root, "a"));
        chmodSync(join(root, "a"), 0o777);
      },
    ],
    [
      "is of another user",
      ({ logs, file }) => {
        make(logs);
        writeFileSync(file, "");
        chownSync(file, 65_534, 65_534);
      },
    ],
    [
      "is in a folder of another user",
      ({ logs }) => {
        make(logs);
        chownSync(logs, 65_534, 65_534);
      },
    ],
    [
      "is in a folder of a group of others",
      ({ logs }) => {
        make(logs);
        chmodSync(logs, 0o775);
        chownSync(logs, UID, 65_533);
      },
    ],
    [
      "is below a folder of another user",
      ({ root, logs }) => {
        make(logs);
        chownSync(join(root, "a"), 65_534, 65_534);
      },
    ],
    [
      "is below a link of another user",
      ({ root, logs }) => {
        make(join(root, "b/logs"));
        symlinkSync("b", join(root, "a"));
        execFileSync("chown", ["-h", "65534", join(root, "a")]);
        expect(lstatSync(logs).isDirectory()).toBe(true);
      },
    ],
  ];
  // Only root can give a folder to another user.
  const possible = foreign.filter(([name]) => UID === 0 || !/another user|group/.test(name));

  /** Paths, kinds and sizes of all that is in a folder. */
  const all = (root: string) =>
    readdirSync(root, { recursive: true, encoding: "utf8" })
      .map((name) => [name, lstatSync(join(root, name))] as const)
      .map(([name, { mode, size }]) => [name, mode, (mode & 0o040000) === 0 ? size : 0]);

  it.each(possible)("gets nothing if it %s, and says so once", (_, seize) => {
    const it = world();
    seize(it);
    const before = all(it.root);
    it.log.append("secret\n");
    it.log.append("secret\n");
    expect(it.problems).toEqual([expect.stringMatching(/^no log of its output: /)]);
    // The last folder may have been made, with nothing in it.
    expect(all(it.root).filter(([name]) => name !== "a/logs")).toEqual(
      before.filter(([name]) => name !== "a/logs"),
    );
    expect(readFileSync(it.precious, "utf8")).toBe("precious");
  });

  it("is for its user, in folders that it makes, and behind links of its user", () => {
    const { root, file, log, problems } = world();
    make(join(root, "b"));
    symlinkSync("b", join(root, "a"));
    log.append("one\n");
    log.append("two\n");
    expect([problems, readFileSync(file, "utf8")]).toEqual([[], "one\ntwo\n"]);
    const modes = [join(root, "b/logs"), file].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600]);
  });

  it("may be in a folder for the group that is its user's own", () => {
    const { logs, log, problems } = world();
    make(logs);
    chownSync(logs, UID, UID);
    chmodSync(logs, 0o775);
    log.append("one\n");
    expect(problems).toEqual([]);
  });

  it("is kept in five files, and looks at its folder and its file again for each", () => {
    const { logs, file, precious, log, problems } = world();
    for (let number = 1; number <= 6; number++) {
      log.append(`${number}\n`);
      truncateSync(file, 9_999_999);
    }
    const names = readdirSync(logs).toSorted();
    expect(names).toEqual(["web.log", ...[1, 2, 3, 4].map((number) => `web.log.${number}`)]);
    expect(names.map((name) => readFileSync(join(logs, name), "latin1")[0]).join("")).toBe("65432");
    chmodSync(logs, 0o777);
    log.append("7\n");
    expect(problems).toHaveLength(1);
    chmodSync(logs, 0o700);
    renameSync(file, join(logs, "old"));
    symlinkSync(precious, file);
    log.append("8\n");
    expect([readFileSync(precious, "utf8"), problems.length]).toEqual(["precious", 1]);
  });

  it("of holdfast run is not added to what a link leads to", async () => {
    const { logs, file, precious } = world();
    make(logs);
    symlinkSync(precious, file);
    const yaml = "processes: { web: { shell: 'echo secret', restart: Never } }";
    const { code, lines } = await new Supervised(yaml, ["--logs", logs, "--no-output"]).ended();
    expect([code, readFileSync(precious, "utf8")]).toEqual([0, "precious"]);
    expect(lines.join()).toContain("web: no log of its output: ");
  });
});
