import type { CachedObject, ObjectChange } from "@holdfast/kubernetes";
import fc from "fast-check";
import { expect, inject, it } from "vitest";
import type { Consistency, OwnWrite, Store } from "../../src/cache/store.ts";
import { finishList, list, storeOf } from "./cache-kit.ts";
import { ServerModel } from "./server-model.ts";

const name = fc.constantFrom("a", "b", "c");
const app = fc.constantFrom("a", "a", "b");
const pick = fc.nat({ max: 5 });

/** A write of this process or of another, or a step of the way from the server to the store. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constant("put"), name, app, fc.boolean()) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("delete"), name, fc.constant(""), fc.boolean()) },
  { weight: 1, arbitrary: fc.tuple(fc.constant("same"), name, fc.constant(""), fc.constant(true)) },
  { weight: 5, arbitrary: fc.tuple(fc.constant("answer"), pick) },
  { weight: 6, arbitrary: fc.tuple(fc.constant("event"), fc.integer({ min: 1, max: 3 })) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("again"), pick) },
  { weight: 1, arbitrary: fc.tuple(fc.constant("early"), pick) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("bookmark"), pick) },
  { weight: 1, arbitrary: fc.tuple(fc.constant("list"), pick) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("listed"), pick) },
);

type Step = [kind: string, first?: string | number, app?: string, isOwn?: boolean];

/** A store, the server behind it, and all that is on the way between them. */
class World {
  readonly server = new ServerModel();
  readonly store: Store = storeOf({ labels: { app: "a" } });
  readonly told: ObjectChange[] = [];
  /** Writes that are done, and whose answers have not arrived. */
  readonly answers: OwnWrite[] = [];
  /** The state that a list under way will bring. */
  #snapshot: { objects: ReturnType<ServerModel["list"]>; version: number } | undefined;
  /** How many events the watch has brought in order, and whether any came out of order. */
  #seen = 0;
  #isBroken = false;
  /** The objects by key, as the changes told say. */
  readonly #mirror = new Map<string, CachedObject>();
  /** The newest version told of each key, and the UIDs whose deletion has returned. */
  readonly #newest = new Map<string, number>();
  readonly #gone = new Set<string>();
  /** The newest version of each name that an answer had. */
  readonly #answered = new Map<string, number>();

  constructor() {
    this.store.table.subscribe((change) => this.#check(change));
    list(this.store, this.server.version);
  }

  run([kind, first, label, isOwn]: Step): void {
    const at = typeof first === "number" ? first : 0;
    const named = String(first);
    if (kind === "put") this.#wrote(this.server.put(named, label ?? "a"), isOwn);
    if (kind === "same") this.#wrote(this.server.putSame(named), isOwn);
    if (kind === "delete") this.#wrote(this.server.delete(named), isOwn);
    if (kind === "answer") this.#answer(at);
    if (kind === "list") this.#beginList();
    if (kind === "listed") this.#finishList();
    if (this.#snapshot === undefined) this.#watch(kind, at);
    this.#checkState();
  }

  /** Brings everything that is on the way, in order, and then a bookmark. */
  settle(): void {
    this.#finishList();
    while (this.answers.length > 0) this.#answer(0);
    this.#watch("event", Number.POSITIVE_INFINITY);
    this.#finishList();
    this.#watch("event", Number.POSITIVE_INFINITY);
    expect(this.store.bookmark(String(this.server.version))).toBe("consistent");
    this.#checkState();
  }

  #wrote(write: OwnWrite | undefined, isOwn: boolean | undefined): void {
    if (isOwn === true && write !== undefined) this.answers.push(write);
  }

  /** The answer arrives: from now on the cache is not older than it. */
  #answer(at: number): void {
    const [write] = this.answers.splice(at % Math.max(1, this.answers.length), 1);
    if (write === undefined) return;
    const consistency = this.store.write(write);
    if (!this.#isBroken && this.#snapshot === undefined) expect(consistency).toBe("consistent");
    if (consistency !== "consistent") this.#beginList();
    if (write.type === "gone") {
      this.#gone.add(write.uid);
      expect(this.store.table.get(`default/${write.name.name}`)?.metadata.uid).not.toBe(write.uid);
      return;
    }
    const { metadata } = write.object;
    const version = Number(metadata.resourceVersion);
    this.#answered.set(metadata.name, Math.max(version, this.#answered.get(metadata.name) ?? 0));
    // A watch out of order has passed versions that it has not shown.
    if (consistency !== "consistent" || this.#isBroken) return;
    const cached = this.store.table.get(`default/${metadata.name}`);
    if (cached !== undefined)
      expect(Number(cached.metadata.resourceVersion)).toBeGreaterThanOrEqual(version);
    else if (metadata.labels?.["app"] === "a")
      // Not there although it matches: then the cache knows of something later.
      expect(
        this.#gone.has(metadata.uid) ||
          this.server.leftBetween(metadata.uid, version, Number(this.store.version)) ||
          (this.#answered.get(metadata.name) ?? 0) > version,
      ).toBe(true);
  }

  #watch(kind: string, at: number): void {
    const { events } = this.server;
    if (kind === "event")
      for (let left = at; left > 0 && this.#seen < events.length; left--)
        if (!this.#deliver(this.#seen++)) return;
    if (kind === "again" && this.#seen > 0) {
      // The last one once more; with an older one the server looks as if it went back.
      const index = Math.max(0, this.#seen - 1 - at);
      this.#isBroken ||= (events[index]?.version ?? 0) < Number(this.store.version);
      this.#deliver(index);
    }
    if (kind === "early" && this.#seen + at + 1 < events.length) {
      this.#isBroken = true;
      this.#deliver(this.#seen + at + 1); // before the ones that come first
    }
    if (kind === "bookmark") {
      const next = events[this.#seen]?.version ?? this.server.version + 1;
      const isWaiting = this.store.pendingWrites > 0;
      const version = Math.max(Number(this.store.version), next - 1);
      const consistency = this.store.bookmark(String(version));
      // Two bookmarks have not shown an own write: here the watch is only late.
      if (isWaiting && consistency === "missed-write") this.#beginList();
      else this.#judge(consistency);
    }
  }

  #deliver(index: number): boolean {
    const { type, object } = this.server.events[index] ?? expect.fail("there is an event");
    return this.#judge(this.store.apply({ type, object: structuredClone(object) }));
  }

  #judge(consistency: Consistency): boolean {
    if (!this.#isBroken) expect(consistency).toBe("consistent");
    if (consistency !== "consistent") this.#beginList();
    return consistency === "consistent";
  }

  #beginList(): void {
    this.store.beginList();
    this.#snapshot = { objects: this.server.list(), version: this.server.version };
  }

  #finishList(): void {
    if (this.#snapshot === undefined) return;
    const { objects, version } = this.#snapshot;
    finishList(this.store, version, ...structuredClone(objects));
    this.#snapshot = undefined;
    this.#isBroken = false;
    const next = this.server.events.findIndex((event) => event.version > version);
    this.#seen = next < 0 ? this.server.events.length : next;
  }

  /** Each change fits the one before, is new, and never goes back. */
  #check(change: ObjectChange): void {
    const { type, key, object, old } = change;
    this.told.push(change);
    expect(this.#mirror.get(key)).toBe(old);
    const version = Number(object.metadata.resourceVersion);
    const newest = this.#newest.get(key) ?? 0;
    if (type === "deleted") {
      expect(version).toBeGreaterThanOrEqual(newest);
      this.#mirror.delete(key);
    } else {
      expect(version).toBeGreaterThan(newest);
      expect(this.#gone.has(object.metadata.uid)).toBe(false);
      this.#mirror.set(key, object);
    }
    this.#newest.set(key, Math.max(version, newest));
  }

  #checkState(): void {
    expect([...this.store.table.objects]).toEqual([...this.#mirror]);
    for (const { metadata } of this.store.table.objects.values())
      expect(this.#gone.has(metadata.uid)).toBe(false);
  }
}

it("is never older than an own write, never goes back, reports each change once and equals the server at the end", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const world = new World();
      for (const each of steps) world.run(each as Step);
      world.settle();
      const ids = ({ metadata }: CachedObject | ReturnType<ServerModel["list"]>[number]) =>
        `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`;
      expect([...world.store.table.objects.values()].map(ids).sort()).toEqual(
        world.server.list().map(ids).sort(),
      );
    }),
    { numRuns: inject("isThorough") ? 3_000 : 300 },
  );
});
