import { spawn } from "node:child_process";
import { once } from "node:events";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { cpuOfServer, memoryOfServer } from "../../machine.mjs";
import { liveBytes, stopwatch } from "../../measure.mjs";
import { pod } from "../kubernetes/pods.mjs";

const REPLAY = fileURLToPath(new URL("../kubernetes/server.mjs", import.meta.url));
const CHANGES = 20_000;
const WRITES = 2_000;

/** What a cache keeps of a Pod. */
const KEPT = {
  "whole Pods": undefined,
  "transform: name, labels and phase": ({ metadata, status }) => {
    const { name, namespace, uid, resourceVersion, labels } = metadata;
    return {
      metadata: { name, namespace, uid, resourceVersion, labels },
      status: { phase: status.phase },
    };
  },
};

const perObject = (nanoseconds, count) => nanoseconds / 1_000 / count;

/** Runs a cluster until the process ends, and waits until its caches are synced. */
async function synced(cluster) {
  const { signal } = new AbortController();
  cluster.run(signal).catch((error) => {
    throw error;
  });
  await cluster.ready(signal);
}

const until = async (isDone) => {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 5));
};

/** A sample: a cache of so many Pods, and the changes that follow. */
function caching(transform) {
  return async (count) => {
    const { atUrl, builtIn, Cluster } = await import("@holdfast/kubernetes");
    const child = spawn(process.execPath, [REPLAY, `${count}`, `${CHANGES}`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    process.on("exit", () => child.kill("SIGKILL"));
    const [url] = await once(createInterface(child.stdout), "line");
    const cluster = new Cluster({ transport: atUrl(url) });
    const pods = cluster.watch(builtIn("v1", "Pod"), { transform });
    const { name, namespace } = pod((CHANGES - 1) % count, 0).metadata;
    const isLast = () =>
      pods.get({ namespace, name })?.metadata.resourceVersion === `${count + CHANGES}`;
    return async () => {
      const heap = liveBytes();
      const delays = monitorEventLoopDelay({ resolution: 1 });
      delays.enable();
      const lap = stopwatch();
      await synced(cluster);
      const list = lap();
      await until(isLast);
      delays.disable();
      const changes = lap();
      const { maxRSS } = process.resourceUsage();
      return {
        "cpu µs/object": perObject(list, pods.size),
        "cpu µs/change": perObject(changes, CHANGES),
        "heap MB": (liveBytes() - heap) / 1e6,
        "largest RSS MB": (maxRSS * 1_024) / 1e6,
        "longest block ms, wall": delays.max / 1e6,
      };
    };
  };
}

export const caches = Object.fromEntries(
  Object.entries(KEPT).map(([name, transform]) => [name, caching(transform)]),
);

async function connect() {
  const { atUrl, builtIn, Cluster, KubeClient } = await import("@holdfast/kubernetes");
  const { API_URL, API_CA, API_TOKEN } = process.env;
  const transport = () => atUrl(API_URL, { ca: API_CA, token: () => API_TOKEN });
  return {
    client: new KubeClient({ transport: transport() }),
    clusterOf: () => new Cluster({ transport: transport() }),
    ConfigMap: builtIn("v1", "ConfigMap"),
  };
}

/** Makes so many objects in a namespace of their number. Nothing of this is measured. */
async function prepare({ client, ConfigMap }, count) {
  const namespace = `scale-${count}`;
  const there = new Set();
  for await (const { metadata } of client.list(ConfigMap, { namespace })) there.add(metadata.name);
  const names = Array.from({ length: count }, (_, i) => `object-${i}`);
  const missing = names.filter((name) => !there.has(name))[Symbol.iterator]();
  const data = { text: "a".repeat(2_300) };
  const create = async () => {
    for (const name of missing)
      await client.create(ConfigMap, { metadata: { namespace, name }, data });
  };
  await Promise.all(Array.from({ length: 32 }, create));
  return namespace;
}

/** A sample: the first list of a real API server. */
export async function served(count) {
  const world = await connect();
  const namespace = await prepare(world, count);
  const cluster = world.clusterOf();
  const objects = cluster.watch(world.ConfigMap, { namespaces: [namespace] });
  return async () => {
    const heap = liveBytes();
    const before = cpuOfServer();
    const lap = stopwatch();
    await synced(cluster);
    const cpu = lap();
    const server = (cpuOfServer() - before) * 1e6;
    if (objects.size !== count) throw new Error(`${objects.size} of ${count} objects are cached`);
    return {
      "cpu µs/object": perObject(cpu, count),
      "heap MB": (liveBytes() - heap) / 1e6,
      "server cpu µs/object": perObject(server, count),
      "server RSS MB": memoryOfServer() / 1e6,
    };
  };
}

/** A sample: writes, each of which so many watches of clusters of their own receive. */
export async function watchers(count) {
  const world = await connect();
  const { client, ConfigMap } = world;
  const namespace = await prepare(world, 100);
  const clusters = Array.from({ length: count }, world.clusterOf);
  const caches = clusters.map((cluster) => cluster.watch(ConfigMap, { namespaces: [namespace] }));
  await Promise.all(clusters.map(synced));
  return async () => {
    const before = cpuOfServer();
    let last;
    for (let i = 0; i < WRITES; i++) {
      const ref = { namespace, name: `object-${i % 100}` };
      last = await client.patch(ConfigMap, ref, { data: { number: `${i} ${Date.now()}` } });
    }
    const { metadata } = last;
    const hasLast = (cache) =>
      cache.get(metadata)?.metadata.resourceVersion === metadata.resourceVersion;
    await until(() => caches.every(hasLast));
    return { "server cpu µs/write": ((cpuOfServer() - before) * 1_000) / WRITES };
  };
}
