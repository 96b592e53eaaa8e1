import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { isLockConflictError } from "../../src/election/lock-conflict-error.ts";
import { FileLock } from "../../src/file-lock/file-lock.ts";

const link = vi.spyOn(fs, "link");
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

describe("what happens between two steps of a file lock", () => {
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

  it("the process sleeps while others go on, and takes a name that is free again", async () => {
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

  it("another directory takes the place of its own", async () => {
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

  it("what is old cannot be removed: what was written counts, and who writes later removes it", async () => {
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
