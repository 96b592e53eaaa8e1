import { randomUUID } from "node:crypto";
import { realClock } from "@holdfast/clock";
import { silentLogger } from "@holdfast/controller";
import {
  atUrl,
  Cluster,
  ensureCrd,
  fromCrd,
  type KubeResponse,
  type KubeTransport,
  keyOf,
} from "@holdfast/kubernetes";
import { poll } from "@holdfast/wait";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { isOwnServer, ownServerTest } from "../../../../test/cluster.ts";
import { crdOf } from "../../../../test/crd.ts";
import { socketsTo } from "../../../../test/sockets-to.ts";
import { TcpProxy } from "../../../../test/tcp-proxy.ts";
import {
  becomesEqual,
  ConfigMap,
  type WatchOptions,
  watchConfigMaps,
  write,
} from "./watch-config-maps.ts";

let server: ApiServer;
let proxy: TcpProxy;

beforeAll(async () => {
  if (!isOwnServer) return;
  server = await ApiServer.start();
  proxy = await TcpProxy.to(server.url);
});

afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

interface Options extends WatchOptions {
  url?: string;
  /** Changes the responses of the server on their way to the informer. */
  change?: (path: URL, response: KubeResponse) => KubeResponse;
}

/** Watches the ConfigMaps of a namespace on our server, or past a proxy. */
async function watching(namespace: string, { url = server.url, change, ...rest }: Options = {}) {
  const access = { ca: server.ca, token: () => server.adminToken };
  const direct = atUrl(server.url, access);
  const way = atUrl(url, access);
  const changed: KubeTransport["send"] = async (request, signal) => {
    const response = await way.send(request, signal);
    return change?.(new URL(request.path, url), response) ?? response;
  };
  const transport = change === undefined ? way : { description: "hostile", send: changed };
  return await watchConfigMaps(namespace, { transport, direct, ...rest });
}

async function* chunk(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${text}\n`);
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
    await using watched = await watching("compacted", { url: proxy.url });
    const { client } = watched;
    await write(client, "compacted", "goes");
    await write(client, "compacted", "stays");
    await becomesEqual(watched, "compacted");
    proxy.down = true;
    proxy.cut();
    await client.delete(ConfigMap, "compacted/goes");
    for (let i = 0; i < 20; i++) await write(client, "elsewhere", `map-${i}`);
    await server.compact();
    await server.restart();
    proxy.down = false;
    await write(client, "compacted", "new");
    await becomesEqual(watched, "compacted");

    expect(watched.changes.filter(({ type }) => type === "deleted")).toMatchObject([
      { key: "compacted/goes", isGuess: true },
    ]);
  });

  ownServerTest("a connection that stays open and silent", async () => {
    await using watched = await watching("frozen", { url: proxy.url, idleTimeout: 5_000 });
    await write(watched.client, "frozen", "before");
    await becomesEqual(watched, "frozen");
    proxy.forget();
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

  ownServerTest(
    "etcd put back to an older state behind a connection that stays silent",
    async () => {
      const { url } = proxy;
      await using watched = await watching("restored-frozen", { url, idleTimeout: 2_000 });
      await write(watched.client, "restored-frozen", "kept");
      const copy = await server.snapshot();
      await write(watched.client, "restored-frozen", "lost");
      await becomesEqual(watched, "restored-frozen");
      proxy.forget();
      await server.restore(copy);
      await becomesEqual(watched, "restored-frozen");
      expect(watched.maps.list().map(({ metadata }) => metadata.name)).toEqual(["kept"]);
    },
  );

  for (const [name, line] of [
    ["an ERROR event 500", '{"type":"ERROR","object":{"kind":"Status","code":500}}'],
    ["an ERROR event without a code", '{"type":"ERROR","object":{"reason":"Expired"}}'],
    ["an event of an unknown type", '{"type":"CHANGED","object":{}}'],
    ["an event that cannot be read", '{"type":"MODIFIED","object":{"metadata":{}}}'],
  ] as const)
    ownServerTest(`${name} at the begin of every watch from its version`, async () => {
      let broken: string | null = null;
      const change = (path: URL, response: KubeResponse): KubeResponse => {
        const version = path.searchParams.get("watch") && path.searchParams.get("resourceVersion");
        broken ??= version;
        return version && version === broken ? { ...response, body: chunk(line) } : response;
      };
      await using watched = await watching("broken-watch", { change });
      await write(watched.client, "broken-watch", randomUUID());
      await becomesEqual(watched, "broken-watch");
      expect(watched.cluster.status().informers[0]?.reflectors[0]?.lists).toBe(2);
    });

  ownServerTest("a gateway that names a year to wait, when somebody catches up", async () => {
    let times = 1;
    const change = (path: URL, response: KubeResponse): KubeResponse => {
      if (!path.searchParams.has("watch") || times-- <= 0) return response;
      return { status: 429, headers: { "retry-after": "31536000" }, body: chunk("{}") };
    };
    await using watched = await watching("year", { change });
    await write(watched.client, "year", "new");
    await watched.cluster.catchUp(AbortSignal.timeout(60_000));
    expect(watched.maps.size).toBe(1);
  });

  ownServerTest("a transform and an index that throw for one object", async () => {
    await using watched = await watching("rejected");
    const failing = watched.cluster.watch(ConfigMap, {
      namespaces: ["rejected"],
      transform: (object) => {
        if (object.metadata.name === "bad") throw new Error("cannot read it");
        return object;
      },
      indexes: {
        letter: ({ metadata }) => {
          if (metadata.name === "odd") throw new Error("has no letter");
          return [metadata.name.slice(0, 1)];
        },
      },
    });
    for (const name of ["bad", "odd", "good"]) await write(watched.client, "rejected", name);
    await becomesEqual(watched, "rejected");
    await poll(() => failing.size === 2, { timeout: 30_000 });
    expect(failing.by("letter", "g").map(({ metadata }) => metadata.name)).toEqual(["good"]);
    const { informers } = watched.cluster.status();
    expect(informers.flatMap(({ reflectors }) => reflectors.map((one) => one.rejected))).toContain(
      2,
    );
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
  ownServerTest("holds 50,000 objects", async () => {
    const transport = atUrl(server.url, { ca: server.ca, token: () => server.adminToken });
    const cluster = new Cluster({ transport, logger: silentLogger });
    await ensureCrd(cluster.client, WIDGET_CRD);
    await server.seed("survival.example.org/widgets", widgets("many", 50_000));
    const cached = cluster.watch(fromCrd(WIDGET_CRD));
    const stop = new AbortController();
    const running = cluster.run(stop.signal);
    await cluster.ready(stop.signal);
    expect(cached.size).toBe(50_000);
    let missing = 50_000;
    for await (const { metadata } of cluster.client.list(fromCrd(WIDGET_CRD)))
      if (cached.get(keyOf({ metadata }))?.metadata.uid === metadata.uid) missing--;
    expect(missing).toBe(0);
    stop.abort();
    await running;
  });

  ownServerTest("has no socket when its run has resolved, in each of 200 stops", async () => {
    // Its port is that of this test alone.
    await using own = await TcpProxy.to(server.url);
    const port = Number(new URL(own.url).port);
    for (let i = 0; i < 200; i++) {
      const watched = await watching("stops", { url: own.url });
      expect(socketsTo(port)).toBeGreaterThan(0);
      await watched[Symbol.asyncDispose]();
      expect(socketsTo(port)).toBe(0);
    }
  });
});

const WIDGET_CRD = crdOf({
  group: "survival.example.org",
  kind: "Widget",
  root: { "x-kubernetes-preserve-unknown-fields": true },
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
    const apiVersion = "survival.example.org/v1";
    return {
      apiVersion,
      kind: "Widget",
      metadata,
      spec: { color: "red", settings: { text: "x".repeat(200) } },
    };
  });
}
