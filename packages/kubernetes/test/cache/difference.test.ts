import type { CachedObject } from "@holdfast/kubernetes";
import fc from "fast-check";
import { expect, it } from "vitest";
import { difference } from "../../src/cache/difference.ts";
import { greeting } from "./cache-kit.ts";

const entry = fc.record({
  name: fc.constantFrom("a", "b", "c", "d"),
  uid: fc.constantFrom("u1", "u2"),
  version: fc.integer({ min: 1, max: 3 }),
});

const lists: fc.Arbitrary<Map<string, CachedObject>> = fc
  .uniqueArray(entry, { selector: ({ name }) => name })
  .map(
    (entries) =>
      new Map(entries.map(({ name, uid, version }) => [name, object(name, uid, version)])),
  );

const objects = new Map<string, CachedObject>();

/** One object for each state: a store keeps the object itself if its version is the same. */
function object(name: string, uid: string, version: number): CachedObject {
  const id = `${name} ${uid} ${version}`;
  const made = { ...greeting(name, version, { uid }), apiVersion: "example.org/v1" };
  const known = objects.get(id) ?? { ...made, kind: "Greeting" };
  objects.set(id, known);
  return known;
}

function idOf(value: CachedObject | undefined): string {
  return value === undefined ? "none" : `${value.metadata.uid}@${value.metadata.resourceVersion}`;
}

it("returns the changes from one list to the other, with previous states, and none for equal lists", () => {
  fc.assert(
    fc.property(lists, lists, fc.boolean(), (before, after, isInitial) => {
      const state = new Map<string, CachedObject>(before);
      for (const change of difference(before, after, isInitial)) {
        const { type, key, object: now, old, isGuess } = change;
        expect(idOf(old)).toBe(idOf(state.get(key)));
        expect(old === undefined).toBe(type === "added");
        expect(isGuess).toBe(type === "deleted");
        expect(change.isInitial).toBe(isInitial && type !== "deleted");
        if (type === "deleted") state.delete(key);
        else state.set(key, now);
        if (type === "updated") expect(now.metadata.uid).toBe(old?.metadata.uid);
        if (type === "updated") expect(idOf(now)).not.toBe(idOf(old));
      }
      expect([...state.values()].map(idOf).sort()).toEqual([...after.values()].map(idOf).sort());
    }),
  );
});
