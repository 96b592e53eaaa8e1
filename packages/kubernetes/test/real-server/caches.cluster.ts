import { realClock } from "@holdfast/clock";
import { Controller, silentLogger } from "@holdfast/controller";
import { keyOf } from "@holdfast/kubernetes";
import { poll } from "@holdfast/wait";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NamedCluster } from "./named-cluster.ts";
import {
  becomesEqual,
  ConfigMap,
  type Watching,
  type WatchOptions,
  watchConfigMaps,
  write,
} from "./watch-config-maps.ts";

let named: NamedCluster;

beforeEach(async () => {
  named = await NamedCluster.open();
});

afterEach(async () => await named[Symbol.asyncDispose]());

async function watching(options: WatchOptions = {}): Promise<Watching> {
  const { namespace, transport } = named;
  return await watchConfigMaps(namespace, { transport, direct: transport, ...options });
}

describe("a cache on any cluster", () => {
  test("is never older than its own writes, in 5,000 of them", async () => {
    const { namespace } = named;
    await using watched = await watching();
    const { maps, cluster } = watched;
    const { client } = cluster;
    let stale = 0;
    const writer = async (number: number): Promise<void> => {
      const ref = `${namespace}/map-${number}`;
      for (let i = 0; i < 500; i++) {
        const metadata = { namespace, name: `map-${number}` };
        const written = await client.apply(ConfigMap, { metadata, data: { count: `${i}` } });
        const cached = maps.get(ref)?.metadata.resourceVersion ?? "0";
        if (Number(cached) < Number(written.metadata.resourceVersion)) stale++;
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, number) => writer(number)));
    expect(stale).toBe(0);
    await becomesEqual(watched, namespace);
    const versions = watched.changes.map(({ object }) => object.metadata.resourceVersion);
    expect(new Set(versions).size).toBe(versions.length);
  });

  test("lists a quiet kind no more, and hears the end of each of its watches", async () => {
    const { namespace } = named;
    await using watched = await watching({ idleTimeout: 5_000 });
    const reflector = () => {
      const [first] = watched.cluster.status().informers[0]?.reflectors ?? [];
      if (first === undefined) throw new Error("there is no informer");
      return first;
    };
    // A busy machine may bring the end of a watch too late, and then a list. Without ends, each fourth watch has one.
    let since = reflector();
    const isLeftAlone = (): boolean => {
      const now = reflector();
      if (now.lists !== since.lists) since = now;
      return now.watches - since.watches >= 6;
    };
    await poll(isLeftAlone, { timeout: 200_000 });
    expect(reflector().lastError).toBeUndefined();
    await write(watched.client, namespace, "late");
    await poll(() => watched.maps.get(`${namespace}/late`), { timeout: 60_000 });
  });

  test("survives watches that the server closes every 6 s, with one list in all", async () => {
    const { namespace } = named;
    await using watched = await watching({ shorten: 6 });
    for (let i = 0; i < 14; i++) {
      await write(watched.client, namespace, `map-${i}`);
      const seen = () => watched.maps.get(`${namespace}/map-${i}`);
      await poll(seen, { backoff: { duration: 5, factor: 1 }, timeout: 60_000 });
      await realClock.sleep(1_000);
    }
    const {
      lists,
      watches = 0,
      lastError,
    } = watched.cluster.status().informers[0]?.reflectors[0] ?? {};
    expect(lists).toBe(1);
    expect(watches).toBeGreaterThanOrEqual(3);
    expect(lastError).toBeUndefined(); // a watch that the server closed is none
    await becomesEqual(watched, namespace);
  });
});

describe("a controller on any cluster", () => {
  test("works on no key twice at once, and on the last version of each", async () => {
    const { namespace } = named;
    await using watched = await watching();
    const { client, maps } = watched;
    const working = new Set<string>();
    const seen = new Map<string, string | undefined>();
    const counts = { overlaps: 0, reconciles: 0, wakesDuringWork: 0 };
    const controller = new Controller({
      name: "overlaps",
      workers: 8,
      logger: silentLogger,
      sources: [maps.source()],
      reconcile: async ({ key }) => {
        if (working.has(key)) counts.overlaps++;
        working.add(key);
        counts.reconciles++;
        seen.set(key, maps.get(key)?.metadata.resourceVersion);
        const before = seen.get(key);
        await realClock.sleep(5);
        if (maps.get(key)?.metadata.resourceVersion !== before) counts.wakesDuringWork++;
        working.delete(key);
      },
    });
    const stop = new AbortController();
    const running = controller.run(stop.signal);
    const writer = async (number: number): Promise<void> => {
      const metadata = { namespace, name: `map-${number % 4}` };
      for (let i = 0; i < 100; i++)
        await client.patch(ConfigMap, metadata, { data: { [`writer-${number}`]: `${i}` } });
    };
    for (let i = 0; i < 4; i++) await write(client, namespace, `map-${i}`);
    await Promise.all(Array.from({ length: 12 }, (_, number) => writer(number)));
    await becomesEqual(watched, namespace);
    const current = () => maps.list().map((map) => [keyOf(map), map.metadata.resourceVersion]);
    const isDone = () => current().every(([key, version]) => seen.get(`${key}`) === version);
    await poll(isDone, { backoff: { duration: 20 }, timeout: 60_000 });
    stop.abort();
    await running;
    expect(counts.overlaps).toBe(0);
    expect(counts.wakesDuringWork).toBeGreaterThan(20);
    expect(counts.reconciles).toBeGreaterThan(100);
  });
});
