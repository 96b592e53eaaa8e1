import { realClock } from "@holdfast/clock";
import { type EnqueueOptions, mapSource } from "@holdfast/controller";
import type { Informer, ObjectChange, WatchOptions } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { Greeting, type GreetingObject, World } from "./cluster-kit.ts";

/** An informer of two namespaces and one of all, with three greetings. */
async function withGreetings(
  work: (world: World, all: Informer<GreetingObject>, two: Informer<GreetingObject>) => unknown,
): Promise<void> {
  const world = new World();
  const indexes = { text: ({ spec }: { spec?: { text: string } }) => [spec?.text ?? ""] };
  await world.run(async () => {
    for (const [namespace, name] of [
      ["a", "ann"],
      ["a", "bob"],
      ["b", "ann"],
      ["c", "cat"],
    ] as const)
      await world.others.create(Greeting, {
        metadata: { namespace, name },
        spec: { text: `${name} in ${namespace}` },
      });
    const all = world.cluster.watch(Greeting, { indexes });
    const two = world.cluster.watch(Greeting, { namespaces: ["a", "b"], indexes });
    await world.cluster.ready(world.stop.signal);
    await work(world, all, two);
  });
}

const names = (
  objects: readonly { metadata: { namespace?: string | undefined; name: string } }[],
) => objects.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).sort();

describe("an informer", () => {
  it("reads by key and by name, lists, and counts, over all its namespaces", () =>
    withGreetings((_, all, two) => {
      expect([all.size, two.size]).toEqual([4, 3]);
      expect(all.get("c/cat")?.spec?.text).toBe("cat in c");
      expect(two.get({ namespace: "b", name: "ann" })?.spec?.text).toBe("ann in b");
      expect([two.get("a/cat"), two.get({ namespace: "b", name: "bob" })]).toEqual([
        ...[undefined, undefined],
      ]);
      expect(names(all.list())).toEqual(["a/ann", "a/bob", "b/ann", "c/cat"]);
      expect(names(two.list("a"))).toEqual(["a/ann", "a/bob"]);
      expect(names(all.list("nowhere"))).toEqual([]);
    }));

  it("finds objects by an index, also after they have changed", () =>
    withGreetings(async ({ others, clock }, all, two) => {
      expect(names(two.by("text", "ann in b"))).toEqual(["b/ann"]);
      await others.patch(Greeting, "a/bob", { spec: { text: "ann in b" } });
      await others.delete(Greeting, "a/ann");
      await clock.sleep(1);
      expect(names(two.by("text", "ann in b"))).toEqual(["a/bob", "b/ann"]);
      expect([all.by("text", "bob in a"), all.by("text", "ann in a")]).toEqual([[], []]);
    }));

  it("adds indexes to those it has, and refuses another function under a name", () =>
    withGreetings(({ cluster }, all) => {
      const length = ({ spec }: GreetingObject) => [String(spec?.text.length)];
      expect(cluster.watch(Greeting, { indexes: { length } as never })).toBe(all);
      expect(cluster.watch(Greeting, { indexes: { length } as never })).toBe(all);
      expect(all.by("length", "8")).toHaveLength(4);
      expect(() => cluster.watch(Greeting, { indexes: { length: () => [] } })).toThrow(
        'options.indexes["length"] must be the function that the informer already uses for this name',
      );
      expect(() => all.by("size", "8")).toThrow(
        'index must be one of the informer (text, length), got "size"',
      );
    }));

  it("refuses names that its resource cannot have, and namespaces that it does not watch", () =>
    withGreetings((_, all, two) => {
      expect(() => all.get("ann")).toThrow("a Greeting is namespaced");
      expect(() => all.get({ name: "ann" })).toThrow("a Greeting is namespaced");
      expect(() => all.get("a/../b")).toThrow("name must be");
      const message = 'namespace must be one that the informer watches (a, b), got "c"';
      expect(() => two.get("c/cat")).toThrow(message);
      expect(() => two.list("c")).toThrow(message);
    }));

  it("returns frozen objects with their kind and without managedFields", () =>
    withGreetings((_, all) => {
      const ann = all.get("a/ann");
      expect(ann).toMatchObject({ apiVersion: "example.org/v1", kind: "Greeting" });
      expect(ann?.metadata.managedFields).toBeUndefined();
      expect(Object.isFrozen(ann?.spec)).toBe(true);
      expect(() => Object.assign(ann?.metadata ?? {}, { name: "bob" })).toThrow(TypeError);
    }));

  it("selects objects that do not have a label or a name, own writes too", () =>
    withGreetings(async ({ cluster, stop, clock }) => {
      const others = cluster.watch(Greeting, {
        labels: { tier: { not: ["test", "dev"] }, app: { not: "x" } },
        fields: { "metadata.name": { not: "ann" } },
      });
      await cluster.ready(stop.signal);
      expect(names(others.list())).toEqual(["a/bob", "c/cat"]);
      const { client } = cluster;
      const labelsOf = (tier: string) => ({ metadata: { labels: { tier } } });
      await client.patch(Greeting, "a/bob", labelsOf("dev"));
      await client.patch(Greeting, "c/cat", labelsOf("prod"));
      await client.patch(Greeting, "b/ann", labelsOf("prod"));
      expect(names(others.list())).toEqual(["c/cat"]);
      await clock.sleep(1_000);
      expect(names(others.list())).toEqual(["c/cat"]);
    }));

  it("rejects a transform that changes the identity of an object", async () => {
    const world = new World();
    await world.run(async () => {
      await world.put("ann", "hello");
      world.cluster.watch(Greeting, { transform: ({ spec }) => ({ spec }) as never });
      await world.clock.sleep(1);
      expect(JSON.stringify(world.cluster.status())).toContain(
        "options.transform of a Greeting must return an object with the same name",
      );
    });
  });

  const bad: [string, object, string][] = [
    ["no namespace", { namespaces: [] }, "options.namespaces must have at least one namespace"],
    [
      "namespaces that are not an array",
      { namespaces: "a" },
      "options.namespaces must be an array",
    ],
    ["a bad namespace", { namespaces: ["A/B"] }, "namespace must be"],
    ["a bad label", { labels: { app: "x,y" } }, 'labels["app"] must be'],
    ["a field that is not text", { fields: { "metadata.name": 1 } }, 'fields["metadata.name"]'],
    [
      "a transform that is not a function",
      { transform: 1 },
      "options.transform must be a function",
    ],
    [
      "an index that is not a function",
      { indexes: { a: 1 } },
      "options.indexes.a must be a function",
    ],
    [
      "metadataOnly that is not a boolean",
      { metadataOnly: 1 },
      "options.metadataOnly must be true",
    ],
  ];
  it.each(bad)("refuses %s", (_, options, message) => {
    const { cluster } = new World();
    expect(() => cluster.watch(Greeting, options as WatchOptions<GreetingObject>)).toThrow(message);
  });

  it("leaves objects out of an index whose function returns no array", () =>
    withGreetings(({ cluster }) => {
      const informer = cluster.watch(Greeting, { indexes: { bad: () => "text" as never } });
      expect(informer.by("bad", "text")).toEqual([]);
      expect(JSON.stringify(cluster.status())).toContain(
        'options.indexes[\\"bad\\"] must return an array of strings',
      );
    }));
});

/** Keys or changes that a source gave, with their priority, and its errors. */
function collecting<Event>(format: (event: Event) => string) {
  const events: string[] = [];
  const errors: unknown[] = [];
  const enqueue = (event: Event, options?: EnqueueOptions): void => {
    events.push(`${format(event)} ${options?.priority ?? 0}`);
  };
  return {
    events,
    errors,
    context: { enqueue, failed: (error: unknown) => void errors.push(error), clock: realClock },
  };
}

const asText = (key: string): string => key;

describe("a source", () => {
  it("replays the cached objects with priority -10, then reports live changes, until its signal aborts", () =>
    withGreetings(async ({ others, clock }, all, two) => {
      const stop = new AbortController();
      const keys = collecting(asText);
      const changes = collecting(
        ({ type, key, isInitial }: ObjectChange<GreetingObject>) => `${type} ${key} ${isInitial}`,
      );
      two.source().start(keys.context, stop.signal);
      all.changes().start(changes.context, stop.signal);
      expect(two.source().name).toBe("greetings.example.org");
      expect(keys.events.splice(0).sort()).toEqual(["a/ann -10", "a/bob -10", "b/ann -10"]);
      expect(changes.events.splice(0)).toHaveLength(4);
      await others.patch(Greeting, "b/ann", { spec: { text: "good day" } });
      await others.delete(Greeting, "a/ann");
      await clock.sleep(1);
      expect(keys.events).toEqual(["b/ann 0", "a/ann 0"]);
      expect(changes.events).toEqual(["updated b/ann false 0", "deleted a/ann false 0"]);
      expect(abortListeners(stop.signal)).toBe(1);
      stop.abort();
      await others.delete(Greeting, "a/bob");
      await clock.sleep(1);
      expect(keys.events).toHaveLength(2);
      two.source().start(keys.context, stop.signal);
      expect(keys.events).toHaveLength(2);
    }));

  it("filters with when and maps with to; an error of when enqueues the key, an error of to is reported", () =>
    withGreetings((_, all) => {
      const keys = collecting(asText);
      const source = all.source({
        when({ object }) {
          if (object.metadata.namespace === "b") throw new Error("when");
          return object.metadata.name !== "bob";
        },
        to({ object, key }) {
          if (object.metadata.name === "cat") throw new Error("to");
          return [key, `owner/${object.metadata.namespace}`];
        },
      });
      source.start(keys.context, new AbortController().signal);
      expect(keys.events.sort()).toEqual([
        ...["a/ann -10", "b/ann -10", "owner/a -10", "owner/b -10"],
      ]);
      expect(keys.errors.map(String)).toEqual(["Error: when", "Error: to"]);
    }));

  it("keeps the cache and its other listeners running when one of them fails", () =>
    withGreetings(async ({ others, clock, stop }, all) => {
      const broken = collecting(asText);
      const whole = collecting(asText);
      const to = (): never => {
        throw new Error("to");
      };
      all.source({ to }).start(broken.context, stop.signal);
      all.source().start(whole.context, stop.signal);
      await others.patch(Greeting, "a/ann", { spec: { text: "good day" } });
      await clock.sleep(1);
      expect(whole.events.at(-1)).toBe("a/ann 0");
      expect([all.get("a/ann")?.spec?.text, broken.errors.length]).toEqual(["good day", 5]);
    }));

  it("can be mapped", () =>
    withGreetings((_, all) => {
      const keys = collecting(asText);
      const source = mapSource(all.changes(), ({ object }) => [object.spec?.text ?? ""]);
      source.start(keys.context, new AbortController().signal);
      expect(keys.events).toContain("cat in c -10");
    }));

  it("refuses when and to that are not functions", () =>
    withGreetings((_, all) => {
      expect(() => all.source({ when: 1 } as never)).toThrow("options.when must be a function");
      expect(() => all.source({ to: 1 } as never)).toThrow("options.to must be a function");
    }));
});

describe("a stopped informer", () => {
  const STOPPED = "informer of greetings.example.org was stopped and has no objects";

  it("has no objects, no watch and no place in the status, and others go on", () =>
    withGreetings(async (world, all, two) => {
      const { api, cluster, clock, others } = world;
      two.stop();
      two.stop();
      expect([two.size, two.hasSynced]).toEqual([0, false]);
      for (const read of [
        () => two.get("a/ann"),
        () => two.list(),
        () => two.by("text", "ann in a"),
      ])
        expect(read).toThrow(STOPPED);
      await clock.sleep(1_000);
      expect(cluster.status().informers).toHaveLength(1);
      const asked = api.requests.length;
      await others.create(Greeting, { metadata: { namespace: "a", name: "new" } });
      await clock.sleep(3_600_000);
      const reads = api.requests.slice(asked).filter(({ method }) => method === "GET");
      expect(reads.length).toBeGreaterThan(0);
      expect(reads.filter(({ path }) => /namespaces\/[ab]\//.test(path))).toEqual([]);
      expect(all.size).toBe(5);
    }));

  it("reports no deletions to its sources", () =>
    withGreetings(({ clock }, all) => {
      const changes: ObjectChange[] = [];
      const stop = new AbortController();
      const enqueue = (change: ObjectChange): number => changes.push(change);
      void all.changes().start({ enqueue, failed: () => {}, clock }, stop.signal);
      expect(changes).toHaveLength(4);
      all.stop();
      expect(changes).toHaveLength(4);
      stop.abort();
    }));

  it("holds up no wait: ready, catchUp, and a source", async () => {
    const world = new World();
    await world.run(async () => {
      const { api, clock, cluster, stop } = world;
      await api.client.create(Greeting, { metadata: { namespace: "a", name: "ann" } });
      api.intercept({ verbs: ["list"], fault: { type: "stall" } });
      const informer = cluster.watch(Greeting);
      const waits = [
        cluster.ready(stop.signal),
        cluster.catchUp(stop.signal),
        informer.source().ready?.(stop.signal),
      ];
      let areOver = false;
      const over = Promise.all(waits).then(() => {
        areOver = true;
      });
      await clock.sleep(5_000);
      informer.stop();
      await clock.sleep(2_000);
      expect(areOver).toBe(true);
      await over;
    });
  });

  it("is made anew by the next watch", () =>
    withGreetings(async ({ cluster, stop }, all) => {
      all.stop();
      const again = cluster.watch(Greeting);
      expect(again).not.toBe(all);
      await cluster.ready(stop.signal);
      expect(again.size).toBe(4);
    }));
});
