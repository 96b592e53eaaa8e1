import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@holdfast/clock/testing";
import { isLockConflictError, LeaderElector, silentLogger } from "@holdfast/controller";
import { FileLock } from "@holdfast/controller/file-lock";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";

const link = vi.spyOn(fs, "link");
const open = vi.spyOn(fs, "open");
const readdir = vi.spyOn(fs, "readdir");
const rm = vi.spyOn(fs, "rm");
syncBuiltinESMExports(); // file-lock.ts imports them by name

afterAll(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

const record = { holder: "a", leaseDuration: 15_000, acquiredAt: 1, renewedAt: 2, transitions: 3 };
const { signal } = new AbortController();

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-test-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

describe("events between two steps of a file lock", () => {
  it.each([
    ["somebody else has that version", "EEXIST", true],
    ["the draft was removed as too old", "ENOENT", true],
    ["the file system has no links", "EPERM", false],
  ])("%s: %s", async (_, code, isConflict) => {
    link.mockRejectedValueOnce(Object.assign(new Error(code), { code }));
    const error = await errorOf(new FileLock(directory).create(record, signal));
    expect([isLockConflictError(error), readdirSync(directory)]).toEqual([isConflict, []]);
    if (!isConflict) expect(error).toMatchObject({ code });
  });

  it("the process sleeps while others continue, and takes a name that became free", async () => {
    const lock = new FileLock(directory);
    const first = await lock.create(record, signal);
    const file = join(directory, "1.json");
    const text = readFileSync(file);
    let { version } = first;
    for (let i = 0; i < 4; i++) ({ version } = await lock.update(record, version, signal));
    writeFileSync(file, text); // It reads this version before it is removed.
    readdir.mockResolvedValueOnce(["1.json"] as never);
    const late = await errorOf(lock.update(record, first.version, signal));
    expect(isLockConflictError(late)).toBe(true);
    expect(readdirSync(directory).sort()).toEqual(["1.json", "4.json", "5.json"]);
  });

  it("the version that it replaces is removed, because there are later ones", async () => {
    const lock = new FileLock(directory);
    const first = await lock.create(record, signal);
    let { version } = first;
    for (let i = 0; i < 4; i++) ({ version } = await lock.update(record, version, signal));
    readdir.mockResolvedValueOnce(["1.json"] as never);
    expect(isLockConflictError(await errorOf(lock.update(record, first.version, signal)))).toBe(
      true,
    );
    expect(readdirSync(directory).sort()).toEqual(["4.json", "5.json"]);
  });

  it("another directory replaces its own", async () => {
    const lock = new FileLock(directory);
    const { version } = await lock.create(record, signal);
    link.mockImplementationOnce(async (draft, file) => {
      rmSync(directory, { recursive: true });
      mkdirSync(directory);
      writeFileSync(join(directory, "1.json"), JSON.stringify(record));
      await fs.link(draft, file);
    });
    expect(isLockConflictError(await errorOf(lock.update(record, version, signal)))).toBe(true);
    expect(readdirSync(directory)).toEqual(["1.json"]);
  });

  it("old files cannot be removed: the write counts, and a later writer removes them", async () => {
    const lock = new FileLock(directory);
    let { version } = await lock.create(record, signal);
    ({ version } = await lock.update(record, version, signal));
    rm.mockRejectedValueOnce(new Error("EPERM")).mockRejectedValueOnce(new Error("EPERM"));
    const third = await lock.update(record, version, signal);
    expect(await lock.get(signal)).toEqual(third);
    expect(readdirSync(directory)).toHaveLength(4);
    await lock.update(record, third.version, signal);
    expect(readdirSync(directory).sort()).toEqual(["3.json", "4.json"]);
  });

  it("a version is removed after it was listed, because there are later ones", async () => {
    const lock = new FileLock(directory);
    const first = await lock.create(record, signal);
    readdir.mockResolvedValueOnce(["7.json"] as never);
    expect(await lock.get(signal)).toEqual(first);
  });

  it("the signal aborts while the draft is written: nothing is published, and nothing left", async () => {
    const stop = new AbortController();
    const reason = new Error("stop");
    readdir.mockImplementationOnce(async () => {
      stop.abort(reason);
      return [];
    });
    await expect(new FileLock(directory).create(record, stop.signal)).rejects.toBe(reason);
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe("a file lock", () => {
  it("stays in its directory after process.chdir, so that two locks on one path conflict", async () => {
    const home = process.cwd();
    const elsewhere = join(directory, "elsewhere");
    mkdirSync(elsewhere);
    try {
      process.chdir(directory);
      const before = new FileLock("lease");
      const same = new FileLock(join(directory, "lease"));
      await same.create(record, signal);
      process.chdir(elsewhere);
      expect(isLockConflictError(await errorOf(before.create(record, signal)))).toBe(true);
      expect(before.description).toBe(`file ${join(directory, "lease")}`);
      expect(readdirSync(elsewhere)).toEqual([]);
    } finally {
      process.chdir(home);
    }
  });

  it("removes its draft when the disk is full", async () => {
    const full = Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
    open.mockImplementationOnce(async (path, flags) => {
      const handle = await fs.open(path, flags);
      vi.spyOn(handle, "writeFile").mockRejectedValueOnce(full);
      return handle;
    });
    await expect(new FileLock(directory).create(record, signal)).rejects.toBe(full);
    expect(readdirSync(directory)).toEqual([]);
  });

  it("finds the highest of 200,000 names", async () => {
    const lock = new FileLock(directory);
    const first = await lock.create(record, signal);
    const drafts = Array.from({ length: 200_000 }, (_, index) => `1.${index}.draft`);
    readdir.mockResolvedValueOnce([...drafts, "1.json"] as never);
    expect(await lock.get(signal)).toEqual(first);
  });

  it("ignores a file whose number is too large for a version", async () => {
    const stray = "99999999999999999999.json";
    writeFileSync(join(directory, stray), "");
    const lock = new FileLock(directory);
    expect(await lock.get(signal)).toBeUndefined();
    const { version } = await lock.create(record, signal);
    const second = await lock.update(record, version, signal);
    expect(await lock.get(signal)).toEqual(second);
    expect(readdirSync(directory)).toContain(stray);
  });

  it("rejects with the error of a file that is listed and missing, after a second look", async () => {
    writeFileSync(join(directory, "5.json"), "{}");
    const gone = Object.assign(new Error("gone"), { code: "ENOENT" });
    open.mockRejectedValueOnce(gone).mockRejectedValueOnce(gone);
    readdir.mockClear();
    expect(await errorOf(new FileLock(directory).get(signal))).toBe(gone);
    expect(readdir).toHaveBeenCalledTimes(2);
  });

  describe.runIf(process.platform !== "win32")("refuses as a record", () => {
    const content = JSON.stringify(record);

    it.each<[string, (file: string) => void, string]>([
      ["a pipe", (file) => execFileSync("mkfifo", [file]), "does not contain a lease record"],
      ["a device", (file) => symlinkSync("/dev/zero", file), "ELOOP"],
      ["a folder", (file) => mkdirSync(file), "does not contain a lease record"],
      ["a dangling link", (file) => symlinkSync("/nowhere", file), "ELOOP"],
      [
        "a link to a record",
        (file) => {
          writeFileSync(`${file}.other`, content);
          symlinkSync(`${file}.other`, file);
        },
        "ELOOP",
      ],
      [
        "more than 4,096 bytes",
        (file) => writeFileSync(file, content.padEnd(4_097)),
        "does not contain a lease record",
      ],
    ])("%s", async (_name, plant, message) => {
      plant(join(directory, "1.json"));
      const lock = new FileLock(directory);
      // As often as Node has threads for files: none of them may be lost.
      for (let index = 0; index < 5; index++)
        await expect(lock.get(signal)).rejects.toThrow(message);
      await expect(lock.create(record, signal)).rejects.toSatisfy(isLockConflictError);
    });
  });

  it("reads a record of 4,096 bytes, and writes none that is longer", async () => {
    writeFileSync(join(directory, "1.json"), JSON.stringify(record).padEnd(4_096));
    const lock = new FileLock(directory);
    expect(await lock.get(signal)).toEqual({ record, version: "1" });
    const long = { ...record, holder: "a".repeat(4_096) };
    await expect(lock.update(long, "1", signal)).rejects.toThrow(
      new RangeError("record must be at most 4096 bytes as JSON: choose a shorter holder"),
    );
    expect(readdirSync(directory)).toEqual(["1.json"]);
  });

  it.runIf(process.platform !== "win32")("creates a directory for its user alone", async () => {
    const own = join(directory, "a", "b");
    await new FileLock(own).create(record, signal);
    expect(statSync(own).mode & 0o777).toBe(0o700);
  });
});

describe("the tokens of a file lock", () => {
  const clock = new FakeClock();

  it("begin with the milliseconds of the clock in an empty directory", async () => {
    const lock = new FileLock(directory, { clock });
    expect(lock.firstToken).toBe(0);
    expect(await lock.get(signal)).toBeUndefined();
    expect(lock.firstToken).toBe(clock.now());
  });

  it("do not go back when the directory is emptied, as by a reboot on tmpfs", async () => {
    const tokens: number[] = [];
    const lead = async (): Promise<void> => {
      const stop = new AbortController();
      const elector = new LeaderElector({
        lock: new FileLock(directory, { clock }),
        identity: "a",
        logger: silentLogger,
        lead: async ({ token }) => {
          tokens.push(token);
          stop.abort();
        },
      });
      await elector.run(stop.signal);
    };
    await lead();
    await lead();
    for (const name of readdirSync(directory)) rmSync(join(directory, name), { force: true });
    await clock.step(2);
    await lead();
    expect(tokens[1]).toBe((tokens[0] ?? 0) + 1);
    expect(tokens[2]).toBeGreaterThan(tokens[1] ?? 0);
  });
});

it.each(["9007199254740990", "9007199254740991"])(
  "reports a planted file of version %s, which no other can follow",
  async (version) => {
    const file = join(directory, `${version}.json`);
    writeFileSync(file, JSON.stringify(record));
    const error = await errorOf(new FileLock(directory).get(signal));
    expect(error).toEqual(new Error(`${file} has the last version of a lock: remove it`));
  },
);
