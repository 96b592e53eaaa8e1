import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileLock, isLockConflict, MemoryLock, type ResourceLock } from "@holdfast/controller";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const record = { holder: "a", leaseDuration: 15_000, acquiredAt: 1, renewedAt: 2, transitions: 3 };
const { signal } = new AbortController();

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-test-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

const locks: Record<string, () => ResourceLock> = {
  MemoryLock: () => new MemoryLock(),
  FileLock: () => new FileLock(join(directory, "made", "on", "demand")),
};

describe.each(Object.entries(locks))("%s", (_, make) => {
  it("has no record at first, and then the one that was written last", async () => {
    const lock = make();
    expect(await lock.get(signal)).toBeUndefined();
    const first = await lock.create(record, signal);
    expect(first.record).toEqual(record);
    expect(await lock.get(signal)).toEqual(first);
    const second = await lock.update({ ...record, holder: "b" }, first.version, signal);
    expect(second.version).not.toBe(first.version);
    expect(await lock.get(signal)).toEqual(second);
  });

  it("refuses to create a second record", async () => {
    const lock = make();
    const first = await lock.create(record, signal);
    expect(await errorOf(lock.create(record, signal))).toSatisfy(isLockConflict);
    expect(await lock.get(signal)).toEqual(first);
  });

  it.each([
    ["an earlier version", (version: string) => version],
    ["a version that nobody wrote", () => "no version"],
  ])("refuses to replace %s", async (_name, versionOf) => {
    const lock = make();
    const { version } = await lock.create(record, signal);
    const second = await lock.update(record, version, signal);
    for (const late of [versionOf(version), versionOf(version)])
      expect(await errorOf(lock.update(record, late, signal))).toSatisfy(isLockConflict);
    expect(await lock.get(signal)).toEqual(second);
  });

  it("refuses to replace what is not there", async () => {
    const lock = make();
    expect(await errorOf(lock.update(record, "1", signal))).toSatisfy(isLockConflict);
  });

  it("lets one of many win who write at once, again and again", async () => {
    const lock = make();
    let { version } = await lock.create(record, signal);
    for (let round = 0; round < 20; round++) {
      const holders = ["a", "b", "c", "d", "e"];
      const writes = await Promise.allSettled(
        holders.map((holder) => lock.update({ ...record, holder }, version, signal)),
      );
      const won = writes.filter(({ status }) => status === "fulfilled");
      const lost = writes.filter((write) => write.status === "rejected");
      expect(won).toHaveLength(1);
      for (const { reason } of lost) expect(reason).toSatisfy(isLockConflict);
      const latest = await lock.get(signal);
      expect(won).toEqual([{ status: "fulfilled", value: latest }]);
      version = latest?.version ?? "";
    }
  });

  it("does nothing for an aborted signal, and rejects with its reason", async () => {
    const lock = make();
    const reason = new Error("stop");
    const aborted = AbortSignal.abort(reason);
    const { version } = await lock.create(record, signal);
    const requests = [
      lock.get(aborted),
      lock.create(record, aborted),
      lock.update(record, version, aborted),
    ];
    for (const request of requests) await expect(request).rejects.toBe(reason);
    expect((await lock.get(signal))?.version).toBe(version);
  });
});

describe("FileLock", () => {
  it("keeps two versions and removes what the dead left, but not what may still be published", async () => {
    const lock = new FileLock(directory);
    let { version } = await lock.create(record, signal);
    for (const name of ["2.dead.draft", "9.live.draft", "notes"])
      writeFileSync(join(directory, name), "");
    for (let i = 0; i < 4; i++) ({ version } = await lock.update(record, version, signal));
    expect(readdirSync(directory).sort()).toEqual(["4.json", "5.json", "9.live.draft", "notes"]);
  });

  it("does not take the name of a version that is long past for the latest", async () => {
    // A process reads version 1 and sleeps, while others go on to version 5 and remove 2.
    const lock = new FileLock(directory);
    await lock.create(record, signal);
    const asleep = new FileLock(directory);
    const update = asleep.update(record, "1", signal);
    writeFileSync(join(directory, "5.json"), JSON.stringify(record));
    expect(await errorOf(update)).toSatisfy(isLockConflict);
    expect((await lock.get(signal))?.version).toBe("5");
    expect(readdirSync(directory).sort()).toEqual(["1.json", "5.json"]);
  });

  it.each(["", "{", "null", "[]", '"a"', '{"holder":"a"}', '{"holder":1,"leaseDuration":1}'])(
    "does not take a file that holds %j for a record",
    async (text) => {
      const file = join(directory, "1.json");
      writeFileSync(file, text);
      const error = new Error(`${file} holds no lease record`);
      expect(await errorOf(new FileLock(directory).get(signal))).toEqual(error);
    },
  );

  it("passes on what the file system says", async () => {
    const file = join(directory, "file");
    writeFileSync(file, "");
    for (const request of [
      new FileLock(file).get(signal),
      new FileLock(file).create(record, signal),
    ])
      expect(await errorOf(request)).toMatchObject({
        code: expect.stringMatching(/ENOTDIR|EEXIST/),
      });
  });

  it("says where it is", () => {
    expect(new FileLock("/run/leader").description).toBe("file /run/leader");
  });

  it.each([
    [1, new TypeError("directory must be a string, got a value of type number")],
    ["", new RangeError('directory must not be empty, got ""')],
  ])("refuses %j", (path, error) => {
    expect(() => new FileLock(path as string)).toThrow(error);
  });
});
