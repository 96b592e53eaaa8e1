import { describe, expect, it } from "vitest";
import { Batch } from "../../src/store/batch.ts";

describe("Batch", () => {
  it("settles all calls of the same turn from one run, each with its own result", async () => {
    const runs: (readonly number[])[] = [];
    const batch = new Batch(async (items: readonly number[]) => {
      runs.push(items);
      return items.map((item) => item * 10);
    });
    const later = Promise.resolve().then(() => batch.call(3));
    expect(await Promise.all([batch.call(1), batch.call(2), later])).toEqual([10, 20, 30]);
    expect(await batch.call(4)).toBe(40);
    expect(runs).toEqual([[1, 2, 3], [4]]);
  });

  it("does not block a call behind a run that hangs", async () => {
    const batch = new Batch((items: readonly string[]) =>
      items.includes("hangs") ? new Promise<never>(() => {}) : Promise.resolve(items),
    );
    void batch.call("hangs");
    await new Promise(setImmediate);
    expect(await batch.call("goes")).toBe("goes");
  });

  it("rejects the calls of a run that fails, and no others", async () => {
    const batch = new Batch(async (items: readonly string[]) => {
      if (items.includes("bad")) throw new Error(`${items.length} failed`);
      return items;
    });
    const failed = await Promise.allSettled([batch.call("bad"), batch.call("good")]);
    expect(failed.map((outcome) => outcome.status === "rejected" && `${outcome.reason}`)).toEqual([
      "Error: 2 failed",
      "Error: 2 failed",
    ]);
    expect(await batch.call("good")).toBe("good");
  });
});
