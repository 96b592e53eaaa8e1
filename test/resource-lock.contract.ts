import { isLockConflictError, MemoryLock, type ResourceLock } from "@holdfast/controller";
import { describe, expect, it } from "vitest";
import { errorOf } from "./error-of.ts";

const record = { holder: "a", leaseDuration: 15_000, acquiredAt: 1, renewedAt: 2, transitions: 3 };
const { signal } = new AbortController();

/** What every lock must do; `make` gives one without a record. */
export function testResourceLock(name: string, make: () => ResourceLock): void {
  describe(name, () => {
    it("has no record at first, then the last written one", async () => {
      const lock = make();
      expect(await lock.get(signal)).toBeUndefined();
      const first = await lock.create(record, signal);
      expect(first.record).toEqual(record);
      expect(await lock.get(signal)).toEqual(first);
      const second = await lock.update({ ...record, holder: "b" }, first.version, signal);
      expect(second.version).not.toBe(first.version);
      expect(await lock.get(signal)).toEqual(second);
    });

    it("lists the records of several locks as get reads them, if it lists", async () => {
      const locks = [make(), make(), make()] as const;
      const [lock, , last] = locks;
      if (lock.list === undefined) return;
      await lock.create(record, signal);
      await last.create({ ...record, holder: "b" }, signal);
      const reversed = [...locks].reverse();
      const listed = await lock.list(reversed, signal);
      expect(listed).toEqual(await Promise.all(reversed.map((each) => each.get(signal))));
      expect(listed.map((found) => found?.record.holder)).toEqual(["b", undefined, "a"]);
      const { version = "" } = listed[0] ?? {};
      await last.update({ ...record, holder: "c" }, version, signal);
      expect((await lock.list([last], signal))[0]?.record.holder).toBe("c");
      const foreign = { ...new MemoryLock(), description: "of another kind" } as ResourceLock;
      const refused = await errorOf(lock.list([lock, foreign], signal));
      expect(String(refused)).toMatch(/^TypeError: locks must be .*, got of another kind$/);
      const reason = new Error("stop");
      await expect(lock.list(locks, AbortSignal.abort(reason))).rejects.toBe(reason);
    });

    it("refuses to create a second record", async () => {
      const lock = make();
      const first = await lock.create(record, signal);
      expect(await errorOf(lock.create(record, signal))).toSatisfy(isLockConflictError);
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
        expect(await errorOf(lock.update(record, late, signal))).toSatisfy(isLockConflictError);
      expect(await lock.get(signal)).toEqual(second);
    });

    it("rejects the replacement of a missing record", async () => {
      const lock = make();
      expect(await errorOf(lock.update(record, "1", signal))).toSatisfy(isLockConflictError);
    });

    it("lets one of many simultaneous writers win, every time", async () => {
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
        for (const { reason } of lost) expect(reason).toSatisfy(isLockConflictError);
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
}
