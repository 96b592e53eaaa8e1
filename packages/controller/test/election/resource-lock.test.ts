import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isLockConflictError, MemoryLock } from "@holdfast/controller";
import { FileLock } from "@holdfast/controller/file-lock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { testResourceLock } from "../../../../test/resource-lock.contract.ts";

const record = { holder: "a", leaseDuration: 15_000, acquiredAt: 1, renewedAt: 2, transitions: 3 };
const { signal } = new AbortController();

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-test-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

testResourceLock("MemoryLock", () => new MemoryLock());
testResourceLock("FileLock", () => new FileLock(join(directory, "made", "on", "demand")));

describe("FileLock", () => {
  it("keeps two versions and removes files of dead processes, but none that may still be published", async () => {
    const lock = new FileLock(directory);
    let { version } = await lock.create(record, signal);
    const live = `9.${randomUUID()}.draft`;
    for (const name of [`2.${randomUUID()}.draft`, live]) writeFileSync(join(directory, name), "");
    for (let i = 0; i < 4; i++) ({ version } = await lock.update(record, version, signal));
    expect(readdirSync(directory).sort()).toEqual(["4.json", "5.json", live]);
  });

  it("keeps foreign files in its directory", async () => {
    const lock = new FileLock(directory);
    let { version } = await lock.create(record, signal);
    const others = ["0.d", "1-notes.txt", "1.notes.draft", "1.json.bak", "notes"];
    mkdirSync(join(directory, "0.d"));
    for (const name of others.slice(1)) writeFileSync(join(directory, name), "");
    for (let i = 0; i < 4; i++) ({ version } = await lock.update(record, version, signal));
    expect(readdirSync(directory).sort()).toEqual([...others, "4.json", "5.json"].sort());
  });

  it("ignores the file name of an outdated version", async () => {
    // A process reads version 1 and sleeps, while others go on to version 5 and remove 2.
    const lock = new FileLock(directory);
    const { version } = await lock.create(record, signal);
    const asleep = new FileLock(directory);
    const update = asleep.update(record, version, signal);
    writeFileSync(join(directory, "5.json"), JSON.stringify(record));
    expect(await errorOf(update)).toSatisfy(isLockConflictError);
    expect((await lock.get(signal))?.version).toBe("5");
    expect(readdirSync(directory).sort()).toEqual(["1.json", "5.json"]);
  });

  it.each(["removed", "renamed"])(
    "repeats no earlier version in a directory that was %s",
    async (how) => {
      const path = join(directory, "lock");
      const lock = new FileLock(path);
      const first = await lock.create(record, signal);
      if (how === "removed") rmSync(path, { recursive: true });
      else renameSync(path, join(directory, "old"));
      const second = await lock.create({ ...record, holder: "b" }, signal);
      expect(second.version).not.toBe(first.version);
      expect(await errorOf(lock.update(record, first.version, signal))).toSatisfy(
        isLockConflictError,
      );
      expect(await lock.get(signal)).toEqual(second);
      expect(readdirSync(path)).toEqual(["1.json"]);
    },
  );

  it("continues from a file without an id, as written by earlier releases", async () => {
    writeFileSync(join(directory, "7.json"), JSON.stringify(record));
    const lock = new FileLock(directory);
    expect(await lock.get(signal)).toEqual({ record, version: "7" });
    const { version } = await lock.update(record, "7", signal);
    expect(await lock.get(signal)).toEqual({ record, version });
    expect(readdirSync(directory).sort()).toEqual(["7.json", "8.json"]);
  });

  it("does not write after a file that holds no record", async () => {
    const lock = new FileLock(directory);
    const { version } = await lock.create(record, signal);
    const file = join(directory, "1.json");
    writeFileSync(file, "");
    const error = await errorOf(lock.update(record, version, signal));
    expect([error, readdirSync(directory)]).toEqual([
      new Error(`${file} does not contain a lease record`),
      ["1.json"],
    ]);
  });

  it.each(["", "{", "null", "[]", '"a"', '{"holder":"a"}', '{"holder":1,"leaseDuration":1}'])(
    "does not accept a file with %j as a record",
    async (text) => {
      const file = join(directory, "1.json");
      writeFileSync(file, text);
      const error = new Error(`${file} does not contain a lease record`);
      expect(await errorOf(new FileLock(directory).get(signal))).toEqual(error);
    },
  );

  it("passes on errors of the file system", async () => {
    const file = join(directory, "file");
    writeFileSync(file, "");
    const errors = await Promise.all([
      errorOf(new FileLock(file).get(signal)),
      errorOf(new FileLock(file).create(record, signal)),
    ]);
    const failed = { code: expect.stringMatching(/ENOTDIR|EEXIST/) };
    expect(errors).toEqual([expect.objectContaining(failed), expect.objectContaining(failed)]);
  });

  it("describes its place", () => {
    expect(new FileLock("/run/leader").description).toBe("file /run/leader");
  });

  it.each([
    [1, new TypeError("directory must be a string, got 1")],
    ["", new RangeError('directory must be a non-empty string, got ""')],
  ])("refuses %j", (path, error) => {
    expect(() => new FileLock(path as string)).toThrow(error);
  });
});
