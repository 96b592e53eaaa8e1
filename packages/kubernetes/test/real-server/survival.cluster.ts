import { randomUUID } from "node:crypto";
import { realClock } from "@holdfast/clock";
import { Controller, silentLogger } from "@holdfast/controller";
import {
  atUrl,
  builtIn,
  type Change,
  Cluster,
  type ClusterOptions,
  fromCrd,
  type Informer,
  KubeClient,
  type KubeObject,
  type KubeTransport,
  keyOf,
} from "@holdfast/kubernetes";
import { poll, retry } from "@holdfast/wait";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { httpsSend } from "../../../../conformance/kubernetes/https-send.ts";
import { prepareServer } from "../../../../conformance/kubernetes/prepare-server.ts";
import { widgetCrd } from "../../../../conformance/kubernetes/resources.ts";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { isOwnServer, ownServerTest } from "../../../../test/cluster.ts";
import { socketsTo } from "../../../../test/sockets-to.ts";
import { TcpProxy } from "./tcp-proxy.ts";

interface ConfigMapObject extends KubeObject {
  data?: { [key: string]: string };
}
const ConfigMap = builtIn<ConfigMapObject>("v1", "ConfigMap");

let server: ApiServer;
let proxy: TcpProxy;

beforeAll(async () => {
  if (!isOwnServer) return;
  server = await ApiServer.start();
  proxy = await TcpProxy.start(Number(new URL(server.url).port));
});

afterAll(async () => {
  await proxy?.close();
  await server?.[Symbol.asyncDispose]();
});

/** A cluster that watches the ConfigMaps of a namespace, and everything that it reported. */
interface Watching extends AsyncDisposable {
  readonly cluster: Cluster;
  /** A client of somebody else: its writes come by the watch alone. */
  readonly client: KubeClient;
  readonly maps: Informer<ConfigMapObject>;
  readonly changes: Change<ConfigMapObject>[];
}

interface WatchingOptions extends Partial<ClusterOptions> {
  url?: string;
  /** Seconds after which the server closes each watch, in place of minutes. */
  shorten?: number;
}

async function watching(namespace: string, options: WatchingOptions = {}): Promise<Watching> {
  const { url = server.url, shorten, ...more } = options;
  const long = atUrl(url, { ca: server.ca, token: () => server.adminToken });
  const transport = shorten === undefined ? long : withShortWatches(long, shorten);
  const cluster = new Cluster({ transport, logger: silentLogger, ...more });
  const direct = atUrl(server.url, { ca: server.ca, token: () => server.adminToken });
  const client = new KubeClient({ transport: direct, logger: silentLogger });
  const maps = cluster.watch(ConfigMap, { namespaces: [namespace] });
  const changes: Change<ConfigMapObject>[] = [];
  const stop = new AbortController();
  const running = cluster.run(stop.signal);
  const failed = (error: unknown): void => {
    throw error;
  };
  const enqueue = (change: Change<ConfigMapObject>): void => {
    changes.push(change);
  };
  const context = { enqueue, failed, clock: realClock };
  void maps.changes().start(context, stop.signal);
  await cluster.ready(stop.signal);
  const dispose = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { cluster, client, maps, changes, [Symbol.asyncDispose]: dispose };
}

function withShortWatches(transport: KubeTransport, seconds: number): KubeTransport {
  const send: KubeTransport["send"] = (request, signal) => {
    const path = request.path.replace(/timeoutSeconds=\d+/, `timeoutSeconds=${seconds}`);
    return transport.send({ ...request, path }, signal);
  };
  return { description: transport.description, send };
}

/** Writes until the server takes it: it may be down, or about to be ready. */
async function write(client: KubeClient, namespace: string, name: string): Promise<void> {
  const object = { metadata: { namespace, name }, data: { at: `${realClock.now()}` } };
  await retry(() => client.apply(ConfigMap, object), { backoff: { duration: 100, steps: 600 } });
}

/** The names and versions that the server has, and those that the cache has. */
async function bothSides({ client, maps }: Watching, namespace: string): Promise<[string, string]> {
  const versions = (objects: readonly { metadata: { name: string; resourceVersion: string } }[]) =>
    objects
      .map(({ metadata: { name, resourceVersion } }) => `${name}@${resourceVersion}`)
      .sort()
      .join(" ");
  const listed = [];
  for await (const object of client.list(ConfigMap, { namespace })) listed.push(object);
  return [versions(maps.list(namespace)), versions(listed)];
}

/** Resolves when cache and server are equal, and holds them to it. */
async function becomesEqual(watched: Watching, namespace: string): Promise<void> {
  const compare = async (): Promise<boolean> => {
    const [cached, stored] = await bothSides(watched, namespace);
    return cached === stored;
  };
  await poll(compare, {
    backoff: { duration: 100 },
    timeout: 60_000,
    onError: () => undefined,
  }).catch(() => undefined);
  const [cached, stored] = await bothSides(watched, namespace);
  expect(cached).toBe(stored);
}

describe("an informer on a real server survives", () => {
  ownServerTest("kill -9 while it watches and nothing happens", async () => {
    await using watched = await watching("kill-quiet");
    await write(watched.client, "kill-quiet", "before");
    await server.restart();
    await write(watched.client, "kill-quiet", "after");
    await becomesEqual(watched, "kill-quiet");
    expect(watched.maps.size).toBe(2);
  });

  ownServerTest("kill -9 before its first list is complete", async () => {
    const transport = atUrl(server.url, { ca: server.ca, token: () => server.adminToken });
    const { client } = new Cluster({ transport });
    const names = Array.from({ length: 200 }, (_, i) => `map-${i}`);
    await Promise.all(names.map((name) => write(client, "kill-list", name)));
    const starting = watching("kill-list", { pageSize: 10 });
    await server.restart();
    await using watched = await starting;
    await becomesEqual(watched, "kill-list");
    expect(watched.maps.size).toBe(200);
  });

  ownServerTest("kill -9 while objects are written", async () => {
    await using watched = await watching("kill-writes");
    const writing = Promise.all(
      Array.from({ length: 100 }, (_, i) => write(watched.client, "kill-writes", `map-${i}`)),
    );
    await server.restart();
    await writing;
    await becomesEqual(watched, "kill-writes");
    expect(watched.maps.size).toBe(100);
  });

  ownServerTest("kill -9 again while it backs off", async () => {
    await using watched = await watching("kill-again");
    await server.kill();
    await realClock.sleep(1_500);
    await server.startApiEarly();
    await server.restart();
    await write(watched.client, "kill-again", "after");
    await becomesEqual(watched, "kill-again");
  });

  ownServerTest("kill -9, and a start that answers 429 to lists", async () => {
    await server.kill();
    const starting = watching("kill-start");
    await server.startApiEarly();
    await using watched = await starting;
    await write(watched.client, "kill-start", "after");
    await becomesEqual(watched, "kill-start");
  });

  ownServerTest("a compaction while it was away, and reports the deletion it missed", async () => {
    const url = `https://127.0.0.1:${proxy.port}`;
    await using watched = await watching("compacted", { url });
    const { client } = watched;
    await write(client, "compacted", "goes");
    await write(client, "compacted", "stays");
    await becomesEqual(watched, "compacted");
    await proxy.close();
    await client.delete(ConfigMap, "compacted/goes");
    for (let i = 0; i < 20; i++) await write(client, "elsewhere", `map-${i}`);
    await server.compact();
    await server.restart();
    await proxy.open();
    await write(client, "compacted", "new");
    await becomesEqual(watched, "compacted");

    expect(watched.changes.filter(({ type }) => type === "deleted")).toMatchObject([
      { key: "compacted/goes", isGuess: true },
    ]);
  });

  ownServerTest("a connection that stays open and silent", async () => {
    const url = `https://127.0.0.1:${proxy.port}`;
    await using watched = await watching("frozen", { url, idleTimeout: 2_000 });
    await write(watched.client, "frozen", "before");
    await becomesEqual(watched, "frozen");
    proxy.freeze();
    await write(watched.client, "frozen", "after");
    await becomesEqual(watched, "frozen");
    expect(watched.cluster.status().informers[0]?.reflectors[0]?.lists).toBe(1);
  });

  ownServerTest("etcd put back to an older state", async () => {
    await using watched = await watching("restored");
    await write(watched.client, "restored", "kept");
    const copy = await server.snapshot();
    await write(watched.client, "restored", "lost");
    await becomesEqual(watched, "restored");
    await server.restore(copy);
    await becomesEqual(watched, "restored");
    expect(watched.maps.list().map(({ metadata }) => metadata.name)).toEqual(["kept"]);
    await write(watched.client, "restored", "new");
    await becomesEqual(watched, "restored");
  });

  ownServerTest("watches that the server closes every 6 s, with one list in all", async () => {
    await using watched = await watching("closed", { shorten: 6 });
    const lags: number[] = [];
    for (let i = 0; i < 14; i++) {
      await write(watched.client, "closed", `map-${i}`);
      const written = realClock.monotonic();
      const seen = () => watched.maps.get(`closed/map-${i}`);
      await poll(seen, { backoff: { duration: 5, factor: 1 }, timeout: 60_000 });
      lags.push(realClock.monotonic() - written);
      await realClock.sleep(1_000);
    }
    const { lists, watches = 0 } = watched.cluster.status().informers[0]?.reflectors[0] ?? {};
    expect(lists).toBe(1);
    expect(watches).toBeGreaterThanOrEqual(3);
    // No write waits for a back-off. A busy machine may be late for one.
    expect(lags.filter((lag) => lag >= 1_000).length, `${lags}`).toBeLessThanOrEqual(1);
    await becomesEqual(watched, "closed");
  });

  ownServerTest("a token that is revoked and replaced", async () => {
    await using watched = await watching("rotated");
    server.rotateToken();
    await write(watched.client, "rotated", "after");
    await server.restart();
    await write(watched.client, "rotated", "later");
    await becomesEqual(watched, "rotated");
  });
});

describe("a cache on a real server", () => {
  ownServerTest("is never older than its own writes, in 5,000 of them", async () => {
    await using watched = await watching("own-writes");
    const { maps, cluster } = watched;
    const { client } = cluster;
    let stale = 0;
    const writer = async (number: number): Promise<void> => {
      const ref = `own-writes/map-${number}`;
      for (let i = 0; i < 500; i++) {
        const metadata = { namespace: "own-writes", name: `map-${number}` };
        const written = await client.apply(ConfigMap, { metadata, data: { count: `${i}` } });
        const cached = maps.get(ref)?.metadata.resourceVersion ?? "0";
        if (Number(cached) < Number(written.metadata.resourceVersion)) stale++;
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, number) => writer(number)));
    expect(stale).toBe(0);
    await becomesEqual(watched, "own-writes");
    const versions = watched.changes.map(({ object }) => object.metadata.resourceVersion);
    expect(new Set(versions).size).toBe(versions.length);
  });

  ownServerTest("holds 50,000 objects", async () => {
    const send = httpsSend({ url: server.url, ca: server.ca, token: server.adminToken });
    await prepareServer(send, AbortSignal.timeout(60_000));
    await server.seed("conformance.example.org/widgets", widgets("many", 50_000));
    const transport = atUrl(server.url, { ca: server.ca, token: () => server.adminToken });
    const cluster = new Cluster({ transport, logger: silentLogger });
    const cached = cluster.watch(fromCrd(widgetCrd));
    const stop = new AbortController();
    const running = cluster.run(stop.signal);
    await cluster.ready(stop.signal);
    expect(cached.size).toBe(50_000);
    let missing = 50_000;
    for await (const { metadata } of cluster.client.list(fromCrd(widgetCrd)))
      if (cached.get(keyOf({ metadata }))?.metadata.uid === metadata.uid) missing--;
    expect(missing).toBe(0);
    stop.abort();
    await running;
  });

  ownServerTest("has no socket when its run has resolved, in each of 1,000 stops", async () => {
    const port = Number(new URL(server.url).port);
    for (let i = 0; i < 1_000; i++) {
      const watched = await watching("stops");
      expect(socketsTo(port)).toBeGreaterThan(0);
      await watched[Symbol.asyncDispose]();
      expect(socketsTo(port)).toBe(0);
    }
  });
});

describe("a controller on a real server", () => {
  ownServerTest("works on no key twice at once, and on the last version of each", async () => {
    await using watched = await watching("overlaps");
    const { client, maps } = watched;
    const working = new Set<string>();
    const seen = new Map<string, string | undefined>();
    const counts = { overlaps: 0, reconciles: 0, wakesDuringWork: 0 };
    const controller = new Controller({
      ...{ name: "overlaps", workers: 8, logger: silentLogger, sources: [maps.source()] },
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
      const metadata = { namespace: "overlaps", name: `map-${number % 4}` };
      for (let i = 0; i < 100; i++)
        await client.patch(ConfigMap, metadata, { data: { [`writer-${number}`]: `${i}` } });
    };
    for (let i = 0; i < 4; i++) await write(client, "overlaps", `map-${i}`);
    await Promise.all(Array.from({ length: 12 }, (_, number) => writer(number)));
    await becomesEqual(watched, "overlaps");
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

/** Widgets as the server stores them. */
function widgets(namespace: string, count: number) {
  return Array.from({ length: count }, (_, number) => {
    const name = `widget-${number}`;
    const uid = randomUUID();
    const metadata = {
      name,
      namespace,
      uid,
      creationTimestamp: "2026-01-01T00:00:00Z",
      generation: 1,
    };
    const apiVersion = "conformance.example.org/v1";
    return {
      apiVersion,
      kind: "Widget",
      metadata,
      spec: { color: "red", settings: { text: "x".repeat(200) } },
    };
  });
}
