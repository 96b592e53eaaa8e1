import type { Fault } from "@holdfast/fake-apiserver";
import { Cluster, type ClusterOptions, type KubeTransport, metadataOf } from "@holdfast/kubernetes";
import { describe, expect, inject, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { errorOf } from "../../../../test/error-of.ts";
import {
  ConfigMap,
  follow,
  Greeting,
  greeting,
  lateBy,
  slowedTo,
  texts,
  World,
} from "./cluster-kit.ts";

const ABORTS = inject("isThorough") ? 1_000 : 200;

describe("a cluster", () => {
  it("returns the same informer for equal options, and another for different ones", () => {
    const { cluster } = new World();
    const transform = <T>(object: T): T => object;
    const plain = cluster.watch(Greeting);
    expect(cluster.watch(Greeting, { labels: {}, fields: {} })).toBe(plain);
    const one = cluster.watch(Greeting, {
      namespaces: ["b", "a", "b"],
      labels: { app: "x", tier: ["b", "a"] },
      transform,
    });
    const same = cluster.watch(Greeting, {
      transform,
      labels: { tier: ["a", "b"], app: "x" },
      namespaces: ["a", "b"],
    });
    expect(same).toBe(one);
    const others = [
      cluster.watch(ConfigMap),
      cluster.watch(Greeting, { namespaces: ["a"] }),
      cluster.watch(Greeting, { labels: { app: "x" } }),
      cluster.watch(Greeting, { fields: { "metadata.name": "ann" } }),
      cluster.watch(Greeting, { metadataOnly: true }),
      cluster.watch(Greeting, { transform }),
    ];
    expect(new Set([plain, one, ...others]).size).toBe(8);
  });

  it("requests consistent pages, and a watch of 5 to 10 minutes with bookmarks", async () => {
    for (const [drawn, seconds] of [
      [0, "300"],
      [0.999_999, "599"],
    ] as const) {
      const world = new World({ random: () => drawn });
      await world.run(async () => {
        world.cluster.watch(Greeting, { labels: { app: "x" }, fields: { "metadata.name": "ann" } });
        await world.cluster.ready(world.stop.signal);
        await world.clock.sleep(0);
      });
      const [listed, watched] = world.asked().map(({ query }) => Object.fromEntries(query));
      const selectors = { labelSelector: "app=x", fieldSelector: "metadata.name=ann" };
      expect(listed).toEqual({ limit: "500", ...selectors });
      expect(watched).toEqual({
        watch: "true",
        allowWatchBookmarks: "true",
        timeoutSeconds: seconds,
        resourceVersion: expect.stringMatching(/^\d+$/) as string,
        ...selectors,
      });
    }
  });

  it("requests metadata only, in list and watch, with metadataOf", async () => {
    const world = new World();
    await world.run(async () => {
      const secrets = world.cluster.watch(metadataOf(ConfigMap));
      expect(world.cluster.watch(ConfigMap, { metadataOnly: true })).toBe(secrets);
      expect(world.cluster.watch(metadataOf(ConfigMap), { metadataOnly: true })).toBe(secrets);
      await world.cluster.ready(world.stop.signal);
      const metadata = { namespace: "default", name: "ann" };
      await world.others.create(ConfigMap, { metadata, data: { token: "s3cret" } });
      await world.clock.sleep(0);
      expect(Object.keys(secrets.get("default/ann") ?? {})).toEqual([
        ...["apiVersion", "kind", "metadata"],
      ]);
      expect(secrets.get("default/ann")?.kind).toBe("ConfigMap");
      await world.cluster.client.create(ConfigMap, {
        metadata: { namespace: "default", name: "bob" },
        data: { token: "s3cret" },
      });
      expect(JSON.stringify(secrets.list())).not.toContain("s3cret");
      expect(secrets.size).toBe(2);
    });
    const accepted = world.asked().map(({ headers }) => headers["accept"]);
    expect(accepted).toEqual([
      "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
      "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
    ]);
  });

  it("starts an informer at once that is declared while it runs", async () => {
    const world = new World();
    await world.run(async () => {
      await world.put("ann", "hello");
      await world.clock.sleep(1_000);
      const informer = world.cluster.watch(Greeting);
      await world.cluster.ready(world.stop.signal);
      expect(texts(informer)).toEqual(["ann: hello"]);
    });
  });

  it("runs once at a time, and continues from its objects in a later run", async () => {
    const world = new World();
    const informer = world.cluster.watch(Greeting);
    await world.run(async () => {
      await world.put("ann", "hello");
      await world.cluster.ready(world.stop.signal);
      const error = await errorOf(world.cluster.run(world.stop.signal));
      expect(String(error)).toBe('Error: cluster "cluster" is already running');
    });
    const again = new AbortController();
    await world.clock.run(async () => {
      await world.put("ann", "good day");
      const running = world.cluster.run(again.signal);
      await world.clock.sleep(1);
      expect(texts(informer)).toEqual(["ann: good day"]);
      again.abort();
      await running;
    });
    // The second one is the probe.
    expect(world.asked().map(({ verb, query }) => [verb, query.get("limit")])).toEqual([
      ...[
        ["list", "500"],
        ["watch", null],
        ["list", "1"],
        ["watch", null],
      ],
    ]);
  });

  it("lists again after relistEvery", async () => {
    const world = new World({ relistEvery: 60_000 });
    await world.run(async () => {
      world.cluster.watch(Greeting);
      await world.clock.sleep(200_000);
    });
    expect(world.requests("list").map(([, at]) => at)).toEqual([0, 60_000, 120_000, 180_000]);
  });

  it("rejects run with the error of a backoff that ends, and stops its informers", async () => {
    const backoff = {
      delayFunc: () => () => {
        throw new Error("no more delays");
      },
    };
    const world = new World({ backoff });
    world.cluster.watch(ConfigMap);
    await world.clock.run(async () => {
      const running = world.cluster.run(world.stop.signal);
      await world.clock.sleep(1_000);
      world.api.stop();
      expect(String(await errorOf(running))).toBe("Error: no more delays");
    });
    expect([world.clock.waiters(), abortListeners(world.stop.signal)]).toEqual([0, 0]);
  });

  it("shows its status as plain data", async () => {
    const world = new World();
    await world.run(async () => {
      world.cluster.watch(Greeting, { namespaces: ["default", "other"] });
      expect(world.cluster.status().informers[0]?.reflectors[0]).toMatchObject({
        state: "listing",
        silentFor: undefined,
        lastEventAt: undefined,
      });
      await world.cluster.ready(world.stop.signal);
      await world.put("ann", "hello");
      await world.clock.sleep(59_000);
      const [first, second] = world.cluster.status().informers[0]?.reflectors ?? [];
      expect(first).toEqual({
        ...{
          namespace: "default",
          state: "watching",
          hasSynced: true,
          size: 1,
          lists: 1,
          rejected: 0,
          isRefused: false,
        },
        watches: 1,
        lastEventAt: 946_684_800_000,
        silentFor: 59_000,
        lastError: undefined,
      });
      expect(second).toMatchObject({ namespace: "other", size: 0, lastEventAt: undefined });
      // A bookmark is a sign of life.
      await world.clock.sleep(2_000);
      expect(world.cluster.status().informers[0]?.reflectors[0]?.silentFor).toBe(1_000);
    });
    expect(world.cluster.status()).toMatchObject({
      name: "cluster",
      state: "idle",
      informers: [
        { resource: "greetings.example.org", size: 1, reflectors: [{ state: "idle" }, {}] },
      ],
    });
  });

  const bad: [string, object, string][] = [
    ["transport", { transport: {} }, "options.transport must have a method send()"],
    ["name", { name: "" }, "options.name must be a non-empty string"],
    ["random", { random: 1 }, "options.random must be a function"],
    ["backoff", { backoff: {} }, "options.backoff.duration must be a finite number"],
    ["backoff", { backoff: { delayFunc: 1 } }, "options.backoff must have a method delayFunc()"],
    ["idleTimeout", { idleTimeout: 0 }, "options.idleTimeout must be a number above 0"],
    ["pageSize", { pageSize: 0 }, "options.pageSize must be a number from 1 to 10000"],
    ["pageSize", { pageSize: 1.5 }, "options.pageSize must be a whole number of at least 1"],
    ["relistEvery", { relistEvery: -1 }, "options.relistEvery must be a number above 0"],
  ];
  it.each(bad)("refuses a bad %s %j", (_, option, message) => {
    const transport: KubeTransport = { description: "none", send: () => Promise.reject() };
    const options = { transport, ...option } as ClusterOptions;
    expect(() => new Cluster(options)).toThrow(message);
  });
});

describe("an abort ends a cluster at once", () => {
  const moments: [string, (world: World) => void, number][] = [
    ["within a list", (world) => world.api.intercept({ fault: { type: "stall" } }), 1_000],
    ["within a watch", () => {}, 1_000],
    [
      "within a page",
      (world) => world.api.intercept({ fault: { type: "stall", after: { bytes: 5 } } }),
      1_000,
    ],
    ["within a delay", (world) => world.api.stop(), 5_000],
    [
      "within a probe",
      (world) => {
        world.api.intercept({ fault: { type: "reset", after: { bytes: 0 } }, verbs: ["watch"] });
        world.api.intercept({
          fault: { type: "stall" },
          verbs: ["list"],
          when: ({ query }) => query.get("limit") === "1",
        });
      },
      10_000,
    ],
  ];

  it.each(moments)(
    "%s, also its waits, and leaves no timer and no listener",
    async (_, set, at) => {
      const world = new World();
      const { clock, cluster, stop } = world;
      await clock.run(async () => {
        set(world);
        cluster.watch(Greeting);
        const running = cluster.run(stop.signal);
        await clock.sleep(at);
        world.api.intercept({ fault: { type: "stall" }, verbs: ["list"] });
        const waits = [cluster.catchUp(stop.signal).catch((reason: unknown) => reason)];
        cluster.watch(ConfigMap);
        waits.push(cluster.ready(stop.signal).catch((reason: unknown) => reason));
        await clock.sleep(7_000);
        const before = clock.monotonic();
        stop.abort("enough");
        await running;
        expect(await Promise.all(waits)).toEqual(["enough", "enough"]);
        expect(clock.monotonic()).toBe(before);
      });
      expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
      expect(await errorOf(cluster.ready(stop.signal))).toBe("enough");
      await cluster.run(stop.signal);
    },
  );

  it(`${ABORTS} times in a row, with no listener, no timer and no connection left`, async () => {
    const world = new World();
    let open = 0;
    const counted: KubeTransport = {
      description: "counted",
      async send(request, signal) {
        open++;
        const { body, ...head } = await world.api.transport.send(request, signal);
        async function* counting() {
          try {
            yield* body;
          } finally {
            open--;
          }
        }
        return { ...head, body: counting() };
      },
    };
    const cluster = new Cluster({ transport: counted, clock: world.clock, random: () => 0 });
    cluster.watch(Greeting);
    const always = new AbortController();
    await world.clock.run(async () => {
      await world.put("ann", "hello");
      for (let at = 0; at < ABORTS; at++) {
        const stop = new AbortController();
        const running = cluster.run(stop.signal);
        const ready = cluster.ready(always.signal);
        await world.clock.sleep(at % 50);
        await ready;
        stop.abort();
        await running;
        expect([abortListeners(stop.signal), open]).toEqual([0, 0]);
      }
    });
    expect([world.clock.waiters(), abortListeners(always.signal)]).toEqual([0, 0]);
  });
});

const WRITES = inject("isThorough") ? 5_000 : 500;

describe("own writes", () => {
  it(`${WRITES} of them, with a watch that is 100 ms late: no read after a write is stale`, async () => {
    const world: World = new World({ way: lateBy(() => world.clock, 100) });
    const { cluster, clock } = world;
    let stale = 0;
    await world.run(async () => {
      const informer = cluster.watch(Greeting);
      await cluster.ready(world.stop.signal);
      const changes = follow(informer, world.stop.signal);
      for (let at = 0; at < WRITES; at++) {
        const name = `g${at % 7}`;
        const { metadata, spec } = greeting(name, `${at}`);
        const cached = informer.get(metadata);
        if (cached === undefined) {
          const { metadata: written } = await cluster.client.create(Greeting, { metadata, spec });
          if (informer.get(metadata)?.metadata.resourceVersion !== written.resourceVersion) stale++;
        } else if (at % 11 === 0) {
          await cluster.client.delete(Greeting, metadata);
          if (informer.get(metadata) !== undefined) stale++;
        } else {
          await cluster.client.patch(Greeting, metadata, { spec });
          if (informer.get(metadata)?.spec?.text !== spec.text) stale++;
        }
        if (at % 10 === 0) await clock.sleep(50);
      }
      expect(stale).toBe(0);
      expect(changes).toHaveLength(WRITES);
      await clock.sleep(1_000);
      expect(changes).toHaveLength(WRITES);
      const there: string[] = [];
      for await (const { metadata, spec } of world.others.list(Greeting))
        there.push(`${metadata.name}: ${spec?.text}`);
      expect(texts(informer)).toEqual(there.sort());
    });
    // None of them made a list necessary.
    expect(world.requests("list").length).toBe(2);
  });

  it("are in every informer whose selector matches, and in no other", async () => {
    const world = new World();
    await world.run(async () => {
      const { cluster } = world;
      const informers = [
        cluster.watch(Greeting),
        cluster.watch(Greeting, { namespaces: ["default", "other"] }),
        cluster.watch(Greeting, { namespaces: ["other"] }),
        cluster.watch(Greeting, { labels: { app: "x" } }),
        cluster.watch(Greeting, { fields: { "metadata.name": "bob" } }),
      ];
      await cluster.ready(world.stop.signal);
      await cluster.client.create(Greeting, greeting("ann", "hello"));
      expect(informers.map(({ size }) => size)).toEqual([1, 1, 0, 0, 0]);
      await cluster.client.create(Greeting, greeting("bob", "hello"), { dryRun: true });
      expect(informers.map(({ size }) => size)).toEqual([1, 1, 0, 0, 0]);
      await cluster.client.delete(Greeting, "default/ann");
      expect(informers.map(({ size }) => size)).toEqual([0, 0, 0, 0, 0]);
    });
  });

  it("of an object with a finalizer show the deletion mark, and then that it is gone", async () => {
    const world: World = new World({ way: lateBy(() => world.clock, 1_000) });
    await world.run(async () => {
      const { client } = world.cluster;
      const informer = world.cluster.watch(Greeting);
      await world.cluster.ready(world.stop.signal);
      const { metadata, spec } = greeting("ann", "hello");
      const finalizers = ["example.org/cleanup"];
      await client.create(Greeting, { metadata: { ...metadata, finalizers }, spec });
      await client.delete(Greeting, metadata);
      expect(informer.get(metadata)?.metadata.deletionTimestamp).toBeTypeOf("string");
      await client.patch(Greeting, metadata, { metadata: { finalizers: [] } });
      expect(informer.get(metadata)).toBeUndefined();
      await world.clock.sleep(5_000);
      expect(informer.get(metadata)).toBeUndefined();
    });
  });

  it("resolve even if a transform fails for them", async () => {
    const world = new World();
    await world.run(async () => {
      world.cluster.watch(Greeting, {
        transform: (object) => {
          if (object.metadata.name === "bad") throw new Error("cannot transform");
          return object;
        },
      });
      await world.cluster.ready(world.stop.signal);
      await world.cluster.client.create(Greeting, greeting("bad", "hello"));
      await world.clock.sleep(5_000);
      expect(world.logged).toEqual(["object rejected by options.transform; skipped"]);
      const [status] = world.cluster.status().informers[0]?.reflectors ?? [];
      expect(status?.lastError?.message).toBe(
        "options.transform threw for greetings.example.org default/bad: cannot transform",
      );
    });
  });
});

describe("catchUp", () => {
  it("resolves at once when the caches have everything", async () => {
    const world = new World();
    await world.run(async () => {
      world.cluster.watch(Greeting);
      await world.put("ann", "hello");
      await world.cluster.ready(world.stop.signal);
      await world.clock.sleep(0);
      const before = world.now;
      await world.cluster.catchUp(world.stop.signal);
      expect(world.now).toBe(before);
    });
    expect(world.asked("list").map(({ query }) => query.get("limit"))).toEqual(["500", "1"]);
  });

  it("waits for a late watch", async () => {
    const world: World = new World({ way: lateBy(() => world.clock, 700) });
    await world.run(async () => {
      const informer = world.cluster.watch(Greeting);
      await world.cluster.ready(world.stop.signal);
      await world.put("ann", "hello");
      await world.cluster.catchUp(world.stop.signal);
      expect([texts(informer), world.now]).toEqual([["ann: hello"], 700]);
    });
    expect(world.requests("list")).toHaveLength(2);
  });

  it("lists after 1 s without an event: a quiet kind cannot reach the server's version", async () => {
    const world: World = new World();
    await world.run(async () => {
      const informer = world.cluster.watch(Greeting);
      await world.put("ann", "hello");
      await world.cluster.ready(world.stop.signal);
      await world.others.create(ConfigMap, { metadata: { namespace: "default", name: "other" } });
      await world.cluster.catchUp(world.stop.signal);
      expect([texts(informer), world.now]).toEqual([["ann: hello"], 1_000]);
    });
    expect(world.requests("list").map(([, at]) => at)).toEqual([0, 0, 1_000]);
  });

  it("keeps waiting while events arrive, for at most 5 s", async () => {
    for (const [events, expected] of [
      [4, 2_800],
      [20, 5_000],
    ] as const) {
      const world: World = new World({ way: slowedTo(() => world.clock, 700) });
      await world.run(async () => {
        const informer = world.cluster.watch(Greeting);
        await world.cluster.ready(world.stop.signal);
        for (let i = 1; i <= events; i++) await world.put("ann", String(i));
        await world.cluster.catchUp(world.stop.signal);
        expect([texts(informer), world.now]).toEqual([[`ann: ${events}`], expected]);
      });
      expect(world.requests("list")).toHaveLength(expected === 5_000 ? 3 : 2);
    }
  });

  it("lists at once if the server does not report its version, and after 5 s if it does not respond", async () => {
    for (const [fault, expected] of [
      [{ type: "status", status: 500 }, 0],
      [{ type: "stall" }, 5_000],
    ] as const) {
      const world: World = new World({ way: lateBy(() => world.clock, 60_000) });
      await world.run(async () => {
        const informer = world.cluster.watch(Greeting);
        await world.cluster.ready(world.stop.signal);
        await world.put("ann", "hello");
        world.api.intercept({ fault, verbs: ["list"], times: 1 });
        await world.cluster.catchUp(world.stop.signal);
        expect([texts(informer), world.now]).toEqual([["ann: hello"], expected]);
      });
    }
  });

  describe("after a long outage", () => {
    const REFUSED = { type: "status", status: 503 } as const;
    const HANGS = { type: "stall" } as const;
    const SLOW = { type: "delay", delay: 30_000 } as const;

    it.each([
      ["lists at once, however long its backoff is", REFUSED, undefined, 1_000],
      ["waits for a list that takes long", REFUSED, SLOW, 31_000],
      ["waits after one more failure, for the backoff", REFUSED, REFUSED, 11_000],
      // The one that hangs ends with the idle timeout, and the next one has a backoff.
      ["waits for a list that hangs since then, and for the next one", HANGS, undefined, 71_200],
    ])("%s", async (_, fault, next, expected) => {
      const world = new World();
      await world.run(async () => {
        const { informer, down } = await outage(world, fault);
        down[Symbol.dispose]();
        const before = world.now;
        const caughtUp = world.cluster.catchUp(world.stop.signal);
        await world.clock.sleep(500); // it has the version, and waits for the watch
        if (next) world.api.intercept({ fault: next, verbs: ["list"], times: 1 });
        await caughtUp;
        expect([texts(informer), world.now - before]).toEqual([["ann: good day"], expected]);
      });
      expect(world.logged).not.toContain(LEFT);
    });

    it.each([
      ["is refused for 15 s more", REFUSED, 15_000],
      ["hangs, with the list that hangs since then", HANGS, 70_400],
    ])("leaves a kind that still %s", async (_, fault, expected) => {
      const world = new World();
      await world.run(async () => {
        const { informer } = await outage(world, fault);
        const before = world.now;
        await world.cluster.catchUp(world.stop.signal);
        expect([texts(informer), world.now - before]).toEqual([["ann: hello"], expected]);
      });
      expect(world.logged).toContain(LEFT);
    });

    const LEFT = "a kind cannot be listed; going on with its cached objects";

    async function outage(world: World, fault: Fault) {
      const informer = world.cluster.watch(Greeting);
      await world.put("ann", "hello");
      await world.cluster.ready(world.stop.signal);
      await world.clock.sleep(1_000);
      const down = world.api.intercept({ fault, verbs: ["list", "watch"] });
      world.api.stop();
      await world.api.start();
      await world.clock.sleep(650_000); // in which it has tried to list
      await world.put("ann", "good day");
      return { informer, down };
    }
  });

  it("needs a list that began after the call", async () => {
    const world: World = new World();
    await world.run(async () => {
      // The first list takes 20 s, and the server's version is not to be had.
      world.api.intercept({ fault: { type: "delay", delay: 20_000 }, verbs: ["list"], times: 1 });
      const informer = world.cluster.watch(Greeting);
      await world.clock.sleep(10_000);
      world.api.intercept({ fault: { type: "status", status: 500 }, verbs: ["list"], times: 1 });
      await world.cluster.catchUp(world.stop.signal);
      expect(informer.hasSynced).toBe(true);
      expect(world.now).toBe(20_000);
    });
    expect(world.requests("list").map(([, at]) => at)).toEqual([0, 10_000, 20_000]);
  });
});
