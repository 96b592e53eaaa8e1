import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { liveBytes, stopwatch } from "../../measure.mjs";
import { bareOperator, clientGo, operating, runOperator } from "./operating.mjs";

const SERVER = fileURLToPath(new URL("server.mjs", import.meta.url));
const PODS = 1_000;
const CLIENT_GO = "client-go";
const CLIENT_NODE = "client-node informer";
const NEEDS = { [CLIENT_GO]: CLIENT_GO, [CLIENT_NODE]: "client-node 2" };

/** Starts the server, and kills it with this process. */
async function serve(pods, events) {
  const child = spawn(process.execPath, [SERVER, `${pods}`, `${events}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.on("exit", () => child.kill("SIGKILL"));
  const [url] = await once(createInterface(child.stdout), "line");
  return url;
}

/** Informers of all Pods. `opens` resolves to a function that syncs, and one that returns a Pod by key. */
const informers = {
  Cluster: async (url) => {
    const { atUrl, builtIn, Cluster } = await import("@holdfast/kubernetes");
    const cluster = new Cluster({ transport: atUrl(url) });
    const pods = cluster.watch(builtIn("v1", "Pod"));
    const stop = new AbortController();
    return {
      async sync() {
        cluster.run(stop.signal).catch(fail);
        await cluster.ready(stop.signal);
      },
      get: (namespace, name) => pods.get(`${namespace}/${name}`),
    };
  },
  [CLIENT_NODE]: async (url) => {
    const { CoreV1Api, KubeConfig, makeInformer } = await import("@kubernetes/client-node");
    const config = new KubeConfig();
    config.loadFromClusterAndUser(
      { name: "bench", server: url, skipTLSVerify: true },
      { name: "bench" },
    );
    const api = config.makeApiClient(CoreV1Api);
    const list = () => api.listPodForAllNamespaces();
    const informer = makeInformer(config, "/api/v1/pods", list);
    informer.on("error", fail);
    return {
      sync: () => informer.start(),
      get: (namespace, name) => informer.get(name, namespace),
    };
  },
};

function fail(error) {
  throw error;
}

/** A sample: from nothing to a cache that holds every Pod. */
function syncing(open) {
  return async (count) => {
    const url = await serve(count, 0);
    const informer = await open(url);
    return async () => {
      const heap = liveBytes();
      const { rss } = process.memoryUsage();
      const delays = monitorEventLoopDelay({ resolution: 1 });
      delays.enable();
      const lap = stopwatch();
      await informer.sync();
      const cpu = lap();
      const synced = process.memoryUsage().rss;
      // The delay of a block counts when the block is over.
      await new Promise((resolve) => setTimeout(resolve, 50));
      delays.disable();
      const { maxRSS: largest } = process.resourceUsage();
      const last = informer.get(`team-${(count - 1) % 50}`, nameOf(count - 1));
      if (last === undefined) throw new Error("the cache lacks the last Pod");
      return {
        "cpu µs/object": cpu / 1_000 / count,
        "heap B/object": (liveBytes() - heap) / count,
        "RSS B/object": (synced - rss) / count,
        "largest RSS MB": (largest * 1_024) / 1e6,
        "longest block ms": delays.max / 1e6,
      };
    };
  };
}

/** The same of client-go, in a program of its own. Its longest block is that of a goroutine that wants to run each ms. */
async function syncingInGo(count) {
  const url = await serve(count, 0);
  return async () => {
    const { stdout } = await promisify(execFile)(process.env.HOLDFAST_BENCH_INFORMER, [
      url,
      `${count}`,
    ]);
    const { cpu, heap, rss, largest, block } = JSON.parse(stdout);
    return {
      "cpu µs/object": (cpu * 1_000) / count,
      "heap B/object": heap / count,
      "RSS B/object": rss / count,
      "largest RSS MB": largest / 1e6,
      "longest block ms": block,
    };
  };
}

const nameOf = (number) => `web-${String(number).padStart(6, "0")}`;

/** A sample: from the first byte of a stream of changes to the cache that holds the last one. */
function following(open) {
  return async (count) => {
    const url = await serve(PODS, count);
    const informer = await open(url);
    const name = nameOf((count - 1) % PODS);
    const namespace = `team-${((count - 1) % PODS) % 50}`;
    const wanted = `${PODS + count}`;
    return async () => {
      const lap = stopwatch();
      await informer.sync();
      while (informer.get(namespace, name)?.metadata.resourceVersion !== wanted)
        await new Promise((resolve) => setTimeout(resolve, 5));
      return { "cpu µs/event": lap() / 1_000 / count };
    };
  };
}

/** The lines of the stream, parsed and kept by key: the least that a cache could cost. */
async function parsing(count) {
  const url = await serve(PODS, count);
  return async () => {
    const cache = new Map();
    const lap = stopwatch();
    const [response] = await once(get(`${url}/api/v1/pods?watch=1`), "response");
    let left = count;
    for await (const line of createInterface(response)) {
      const { object } = JSON.parse(line);
      cache.set(`${object.metadata.namespace}/${object.metadata.name}`, object);
      left -= 1;
      if (left === 0) break;
    }
    return { "cpu µs/event": lap() / 1_000 / count };
  };
}

const each = (make) =>
  Object.fromEntries(Object.entries(informers).map(([name, open]) => [name, make(open)]));

export const kubernetes = {
  id: "k",
  title: "Kubernetes: an informer, from an API server in a process of its own",
  cases: [
    {
      id: "sync",
      title: "an empty cache to one that holds every Pod of 2.5 kB",
      sizes: [50_000],
      quickSizes: [500],
      samples: 1,
      milliseconds: 0,
      rounds: 5,
      unit: "Pods",
      needs: (contender) => NEEDS[contender],
      contenders: { ...each(syncing), [CLIENT_GO]: syncingInGo },
    },
    {
      id: "events",
      title: "changes of 1,000 Pods, from bytes to the cache",
      sizes: [100_000],
      quickSizes: [2_000],
      samples: 1,
      milliseconds: 0,
      rounds: 5,
      unit: "events",
      needs: (contender) => NEEDS[contender],
      contenders: { "bare JSON.parse": parsing, ...each(following) },
    },
    {
      id: "operator",
      title: "an operator on a real API server: synced, reconciled by 8 workers, status written",
      sizes: [10_000],
      quickSizes: [200],
      samples: 1,
      milliseconds: 0,
      rounds: 3,
      unit: "objects",
      needs: (contender) => NEEDS[contender] ?? "Kubernetes API server",
      contenders: {
        runOperator: operating(runOperator),
        [CLIENT_GO]: operating(clientGo),
        "bare node:https": operating(bareOperator),
      },
    },
  ],
};
