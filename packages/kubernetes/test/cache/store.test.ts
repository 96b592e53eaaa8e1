import { type KubeObject, metadataOf } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { MAX_UNCERTAIN } from "../../src/cache/pending-map.ts";
import type { Store } from "../../src/cache/store.ts";
import { event, finishList, Greeting, greeting, list, shown, storeOf, told } from "./cache-kit.ts";

const stored = (...parts: Parameters<typeof greeting>) =>
  ({ type: "stored", object: greeting(...parts) }) as const;
const gone = (name: string, uid = "u1") =>
  ({ type: "gone", name: { namespace: "default", name }, uid }) as const;

describe("a store", () => {
  it("reports the objects of its first list as initial", () => {
    const store = storeOf();
    expect([store.hasSynced, store.version]).toEqual([false, undefined]);
    list(store, 9, greeting("ann", 4), greeting("bob", 7));
    expect([store.hasSynced, store.version]).toEqual([true, "9"]);
    expect(told(store)).toEqual(["added ann@4 initial", "added bob@7 initial"]);
  });

  it("reports the additions, changes and removals of a later list", () => {
    const store = storeOf();
    list(store, 9, greeting("ann", 4), greeting("bob", 7), greeting("cat", 8));
    told(store);
    list(store, 20, greeting("ann", 4), greeting("bob", 12), greeting("dan", 15));
    expect(told(store)).toEqual(["deleted cat@8 guess", "updated bob@12", "added dan@15"]);
  });

  it("reports another UID as a deletion and an addition, in lists and in events", () => {
    const store = storeOf();
    list(store, 9, greeting("ann", 4));
    list(store, 12, greeting("ann", 11, { uid: "u2" }));
    event(store, "ADDED", greeting("ann", 14, { uid: "u3" }));
    expect(told(store).slice(1)).toEqual([
      ...["deleted ann@4 guess", "added ann@11/u2"],
      ...["deleted ann@11/u2 guess", "added ann@14/u3"],
    ]);
  });

  it("keeps the object itself when a list has the same version", () => {
    const store = storeOf();
    list(store, 9, greeting("ann", 4));
    const before = store.table.get("default/ann");
    list(store, 10, greeting("ann", 4));
    expect(store.table.get("default/ann")).toBe(before);
  });

  it("replaces every object after a roll-back: equal versions may be of two histories", () => {
    const store = storeOf();
    list(store, 9, greeting("ann", 4), greeting("bob", 7));
    told(store);
    store.rollBack();
    list(store, 9, greeting("ann", 4, { labels: { app: "b" } }), greeting("bob", 7));
    expect(told(store)).toEqual(["updated ann@4", "updated bob@7"]);
    expect(store.table.get("default/ann")).toMatchObject({ metadata: { labels: { app: "b" } } });
    list(store, 10, greeting("ann", 4, { labels: { app: "b" } }), greeting("bob", 7));
    expect(told(store)).toEqual([]);
  });

  it("misses an own write or deletion that two bookmarks have not shown: the server was restored", () => {
    for (const write of [stored("ann", 12), gone("ann")]) {
      const store = storeOf();
      list(store, 9, greeting("ann", 4));
      store.write(write);
      expect([store.bookmark("9"), store.bookmark("9")]).toEqual(["consistent", "missed-write"]);
      list(store, 9, greeting("ann", 4));
      expect(shown(store)).toEqual(["ann@4"]);
      expect([store.bookmark("9"), store.bookmark("9")]).toEqual(["consistent", "consistent"]);
    }
  });

  it("does not wait for the deletion of an object that it has never shown", () => {
    const store = storeOf();
    list(store, 9, greeting("ann", 4));
    store.write(gone("bob", "u7"));
    expect([store.bookmark("9"), store.bookmark("9")]).toEqual(["consistent", "consistent"]);
  });

  it("follows the events of a watch", () => {
    const store = storeOf();
    list(store, 9);
    event(store, "ADDED", greeting("ann", 10));
    event(store, "MODIFIED", greeting("ann", 11));
    event(store, "DELETED", greeting("ann", 12));
    expect(told(store)).toEqual(["added ann@10", "updated ann@11", "deleted ann@12"]);
    expect([shown(store), store.version]).toEqual([[], "12"]);
  });

  it("reports a duplicate event once", () => {
    const store = storeOf();
    list(store, 9);
    expect(event(store, "ADDED", greeting("ann", 10))).toBe("consistent");
    expect(event(store, "ADDED", greeting("ann", 10))).toBe("consistent");
    expect(event(store, "DELETED", greeting("ann", 12))).toBe("consistent");
    expect(event(store, "DELETED", greeting("ann", 12))).toBe("consistent");
    expect(told(store)).toEqual(["added ann@10", "deleted ann@12"]);
  });

  it("detects that the server went back at an event or a bookmark below its version", () => {
    const store = storeOf();
    list(store, 100);
    expect(store.bookmark("99")).toBe("rollback");
    expect(event(store, "ADDED", greeting("ann", 99))).toBe("rollback");
    expect(store.bookmark("101")).toBe("consistent");
    expect([store.version, told(store)]).toEqual(["101", []]);
  });

  it("accepts every event of a server whose versions are not numbers, and no own write", () => {
    const store = storeOf();
    list(store, 9);
    expect(event(store, "ADDED", greeting("ann", "b"))).toBe("consistent");
    expect(store.write(stored("ann", "c"))).toBe("consistent");
    expect(event(store, "MODIFIED", greeting("ann", "a"))).toBe("consistent");
    expect(told(store)).toEqual(["added ann@b", "updated ann@a"]);
  });

  it("returns frozen objects with their kind, also from lists that omit it", () => {
    const store = storeOf();
    list(store, 9, greeting("ann", 4));
    const ann = store.table.get("default/ann");
    expect([ann?.apiVersion, ann?.kind]).toEqual(["example.org/v1", "Greeting"]);
    expect(Object.isFrozen(ann?.metadata.labels)).toBe(true);
  });

  it("leaves an object out of an index whose function throws, until it works", () => {
    const store = storeOf();
    store.table.addIndex("label", ({ metadata }) => {
      if (metadata.labels?.["app"] === "bad") throw new Error("no label");
      return [metadata.labels?.["app"] ?? ""];
    });
    const bad = { labels: { app: "bad" } };
    list(store, 12, greeting("ann", 4), greeting("bob", 10, bad));
    event(store, "ADDED", greeting("cat", 13, bad));
    expect(shown(store)).toEqual(["ann@4", "bob@10", "cat@13"]);
    expect(store.table.by("label", "a").map(({ metadata }) => metadata.name)).toEqual(["ann"]);
    expect(store.table.rejections.size).toBe(2);
    event(store, "MODIFIED", greeting("bob", 14));
    event(store, "DELETED", greeting("cat", 15, bad));
    expect(store.table.by("label", "a")).toHaveLength(2);
    expect(store.table.rejections.size).toBe(0);
  });

  it("forgets a rejected object that a list has no longer", () => {
    let isBroken = true;
    const transform = (object: KubeObject): KubeObject => {
      if (isBroken) throw new Error("cannot transform");
      return object;
    };
    const store = storeOf({}, { transform });
    list(store, 9, greeting("ann", 4), greeting("bob", 5));
    expect([shown(store), store.table.rejections.size]).toEqual([[], 2]);
    list(store, 12, greeting("bob", 5));
    expect(store.table.rejections.size).toBe(1);
    isBroken = false;
    list(store, 14, greeting("bob", 5));
    expect([shown(store), store.table.rejections.size]).toEqual([["bob@5"], 0]);
  });
});

describe("an own write", () => {
  it("is visible at once, and its event reports nothing more", () => {
    const store = storeOf();
    list(store, 9, greeting("ann", 4));
    told(store);
    store.write(stored("ann", 12));
    store.write(stored("bob", 14));
    expect(shown(store)).toEqual(["ann@12", "bob@14"]);
    event(store, "MODIFIED", greeting("ann", 12));
    event(store, "ADDED", greeting("bob", 14));
    expect(told(store)).toEqual(["updated ann@12", "added bob@14"]);
    expect(store.pendingWrites).toBe(0);
  });

  it("is not undone by older events of its key", () => {
    const store = storeOf();
    list(store, 9, greeting("ann", 4));
    store.write(stored("ann", 14));
    event(store, "MODIFIED", greeting("ann", 11));
    event(store, "DELETED", greeting("ann", 12));
    event(store, "ADDED", greeting("ann", 13));
    expect(shown(store)).toEqual(["ann@14"]);
    event(store, "MODIFIED", greeting("ann", 15));
    expect(told(store)).toEqual(["added ann@4 initial", "updated ann@14", "updated ann@15"]);
  });

  it("changes nothing when the watch delivered it before the response", () => {
    const store = storeOf();
    list(store, 9);
    event(store, "ADDED", greeting("ann", 10));
    event(store, "DELETED", greeting("ann", 11));
    store.write(stored("ann", 10));
    expect([shown(store), store.pendingWrites]).toEqual([[], 0]);
  });

  it("does not replace a later one whose response arrived first", () => {
    const store = storeOf();
    list(store, 9);
    store.write(stored("ann", 11));
    store.write(stored("ann", 10));
    expect(told(store)).toEqual(["added ann@11"]);
  });

  it("is a copy: the caller may change the response", () => {
    const store = storeOf();
    list(store, 9);
    const write = stored("ann", 11);
    store.write(write);
    write.object.metadata.labels = {};
    expect(store.table.get("default/ann")?.metadata.labels).toEqual({ app: "a" });
    expect(Object.isFrozen(write.object.metadata)).toBe(false);
  });

  it("of another UID is a deletion and an addition", () => {
    const store = storeOf();
    list(store, 9, greeting("ann", 4));
    told(store);
    store.write(stored("ann", 12, { uid: "u2" }));
    event(store, "DELETED", greeting("ann", 11));
    event(store, "ADDED", greeting("ann", 12, { uid: "u2" }));
    expect(told(store)).toEqual(["deleted ann@4 guess", "added ann@12/u2"]);
  });

  it("that takes the object out of the selector hides it, and an older event does not bring it back", () => {
    const store = storeOf({ labels: { app: "a" } });
    list(store, 9, greeting("ann", 4));
    told(store);
    store.write(stored("ann", 12, { labels: {} }));
    event(store, "MODIFIED", greeting("ann", 11));
    expect([shown(store), told(store)]).toEqual([[], ["deleted ann@4"]]);
    event(store, "DELETED", greeting("ann", 12));
    expect([told(store), store.pendingWrites]).toEqual([[], 0]);
    event(store, "ADDED", greeting("ann", 13));
    expect(told(store)).toEqual(["added ann@13"]);
  });

  it("of an object that never matched is forgotten when the watch has passed it", () => {
    const store = storeOf({ labels: { app: "a" } });
    list(store, 9);
    store.write(stored("ann", 12, { labels: {} }));
    expect(store.pendingWrites).toBe(1);
    expect(store.bookmark("12")).toBe("consistent");
    expect([store.pendingWrites, told(store)]).toEqual([0, []]);
  });

  it("that deletes hides that UID until its event, also across other events", () => {
    const store = storeOf();
    list(store, 9, greeting("ann", 4));
    told(store);
    store.write(gone("ann"));
    store.write(stored("ann", 10)); // the answer of an earlier write
    event(store, "MODIFIED", greeting("ann", 11));
    expect([shown(store), told(store)]).toEqual([[], ["deleted ann@4"]]);
    event(store, "DELETED", greeting("ann", 12));
    expect([told(store), store.pendingWrites]).toEqual([[], 0]);
  });

  it("that deletes does not hide another UID", () => {
    const store = storeOf();
    list(store, 9, greeting("ann", 4));
    store.write(gone("ann"));
    event(store, "ADDED", greeting("ann", 13, { uid: "u2" }));
    expect(shown(store)).toEqual(["ann@13"]);
    store.write(gone("ann"));
    event(store, "DELETED", greeting("ann", 14));
    expect(shown(store)).toEqual(["ann@13"]);
  });

  it("that deletes an own creation keeps events of the object before it away", () => {
    const store = storeOf();
    list(store, 9, greeting("ann", 4));
    store.write(stored("ann", 13, { uid: "u2" }));
    store.write(gone("ann", "u2"));
    told(store);
    event(store, "MODIFIED", greeting("ann", 11));
    event(store, "DELETED", greeting("ann", 12));
    event(store, "ADDED", greeting("ann", 13, { uid: "u2" }));
    event(store, "DELETED", greeting("ann", 14, { uid: "u2" }));
    expect([told(store), shown(store), store.pendingWrites]).toEqual([[], [], 0]);
  });

  it("requests a list when the watch has passed it without delivering it", () => {
    const store = storeOf();
    list(store, 9, greeting("ann", 4));
    store.write(stored("ann", 12));
    expect(event(store, "ADDED", greeting("bob", 11))).toBe("consistent");
    expect(event(store, "ADDED", greeting("cat", 13))).toBe("missed-write");

    list(store, 20, greeting("ann", 12), greeting("bob", 11), greeting("cat", 13));
    store.write(stored("ann", 22));
    expect(store.bookmark("22")).toBe("missed-write");
  });

  it("requests a list when its response arrives after the watch has passed it without delivering it", () => {
    const store = storeOf();
    list(store, 9, greeting("ann", 4));
    event(store, "ADDED", greeting("cat", 13));
    expect(store.write(stored("ann", 12))).toBe("missed-write");
    expect(shown(store)).toEqual(["ann@12", "cat@13"]);
  });

  it("that creates an object is visible when a bookmark has passed it without its event", () => {
    const store = storeOf();
    list(store, 9);
    store.bookmark("13");
    expect(store.write(stored("ann", 12))).toBe("missed-write");
    expect(shown(store)).toEqual(["ann@12"]);
    expect(store.bookmark("14")).toBe("consistent");
    list(store, 15, greeting("ann", 12));
    expect([shown(store), store.pendingWrites]).toEqual([["ann@12"], 0]);
  });

  it("that takes an object out of the selector hides it when a bookmark has passed it", () => {
    const store = storeOf({ labels: { app: "a" } });
    list(store, 9, greeting("ann", 4));
    store.bookmark("13");
    const other = greeting("ann", 12, { labels: { app: "b" } });
    expect(store.write({ type: "stored", object: other })).toBe("missed-write");
    expect(shown(store)).toEqual([]);
  });

  it("whose response comes after that of a later write out of the selector shows nothing", () => {
    const store = storeOf({ labels: { app: "a" } });
    list(store, 9);
    const later = greeting("ann", 12, { labels: { app: "b" } });
    expect(store.write({ type: "stored", object: later })).toBe("consistent");
    event(store, "ADDED", greeting("ann", 11));
    expect(store.write(stored("ann", 11))).toBe("consistent");
    expect([told(store), shown(store)]).toEqual([[], []]);
  });

  it.each([
    ["the watch", (store: Store) => event(store, "DELETED", greeting("ann", 13))],
    ["a list", (store: Store) => list(store, 13)],
  ])("whose object was deleted since, as %s has shown, stays deleted", (_, deleted) => {
    const store = storeOf();
    list(store, 9);
    event(store, "ADDED", greeting("ann", 12));
    deleted(store);
    expect(store.write(stored("ann", 12))).toBe("consistent");
    expect(shown(store)).toEqual([]);
  });

  it("before a list was requested is in the list, and is forgotten", () => {
    const store = storeOf();
    list(store, 9, greeting("ann", 4), greeting("bob", 5));
    store.write(stored("ann", 12));
    store.write(gone("bob"));
    list(store, 8); // the server was restored from an older state
    expect([shown(store), store.pendingWrites]).toEqual([[], 0]);
  });

  it("while a list is under way is newer than the list", () => {
    const store = storeOf({ labels: { app: "a" } });
    store.beginList();
    store.write(stored("ann", 12));
    store.write(stored("bob", 13));
    store.write(stored("cat", 14, { labels: {} }));
    store.write(gone("dan"));
    expect(shown(store)).toEqual(["ann@12", "bob@13"]);
    finishList(store, 10, greeting("ann", 4), greeting("cat", 5), greeting("dan", 6));
    expect(shown(store)).toEqual(["ann@12", "bob@13"]);
    event(store, "MODIFIED", greeting("ann", 11));
    expect(shown(store)).toEqual(["ann@12", "bob@13"]);
  });

  it("while a list is under way is older than the list if that has a higher version", () => {
    const store = storeOf();
    store.beginList();
    store.write(stored("ann", 12));
    store.write(stored("bob", 13));
    finishList(store, 15, greeting("ann", 14));
    expect([shown(store), store.pendingWrites]).toEqual([["ann@14"], 0]);
  });

  it("before the first list changes nothing", () => {
    const store = storeOf();
    store.write(stored("ann", 12));
    store.write(gone("bob"));
    expect([shown(store), store.pendingWrites]).toEqual([[], 0]);
  });

  it("of another namespace or name, or under a field selector that only the server evaluates, changes nothing", () => {
    const scopes = [
      { namespace: "other" },
      { fields: { "metadata.name": "bob" } },
      { fields: { "metadata.namespace": "other" } },
      { fields: { "spec.nodeName": "n1" } },
    ];
    for (const scope of scopes) {
      const store = storeOf(scope);
      list(store, 9);
      store.write(stored("ann", 12));
      store.write(gone("ann"));
      expect([shown(store), store.pendingWrites]).toEqual([[], 0]);
    }
    const named = storeOf({ namespace: "default", fields: { "metadata.name": "ann" } });
    list(named, 9);
    named.write(stored("ann", 12));
    expect(shown(named)).toEqual(["ann@12"]);
  });

  it("is tested by its labels before the transform", () => {
    const transform = (object: ReturnType<typeof greeting>) => {
      const { labels: _, ...metadata } = object.metadata;
      return { ...object, metadata };
    };
    const store = storeOf({ labels: { app: "a" } }, { transform: transform as never });
    list(store, 9);
    store.write(stored("ann", 12));
    expect(shown(store)).toEqual(["ann@12"]);
    expect(store.table.get("default/ann")?.metadata.labels).toBeUndefined();
  });

  it("is cut to its metadata in a cache of metadata", () => {
    const store = storeOf({}, { resource: metadataOf(Greeting) });
    list(store, 9);
    const { metadata } = greeting("ann", 12);
    store.write({ type: "stored", object: { metadata, data: { token: "secret" } } as never });
    expect(Object.keys(store.table.get("default/ann") ?? {}).sort()).toEqual([
      ...["apiVersion", "kind", "metadata"],
    ]);
  });

  it("of objects that the watch never delivers takes bounded memory", () => {
    const store = storeOf({ labels: { app: "a" } });
    list(store, 9, greeting("ann", 4));
    store.write(gone("ann"));
    for (let at = 0; at < 3 * MAX_UNCERTAIN; at++) {
      store.write(gone(`other-${at}`, `other-${at}`));
      store.write(stored(`more-${at}`, 10 + at, { labels: {}, uid: `more-${at}` }));
    }
    expect(store.pendingWrites).toBe(2 * MAX_UNCERTAIN + 1);
    event(store, "MODIFIED", greeting("ann", 9));
    expect(shown(store)).toEqual([]);
  });
});
