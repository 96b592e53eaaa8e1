// An operator with slots. Each ConfigMap says in `wanted` what it wants; the replica that holds the slot of its key writes
// that to `seen`, and its token behind those of all writes before. Every write names the version that it replaces: a
// write that is late is refused. Arguments: its identity, the namespace and the number of slots.
import { silentLogger } from "@holdfast/controller";
import { atUrl, builtIn, runOperator } from "@holdfast/kubernetes";

const [identity = "", namespace = "", count = ""] = process.argv.slice(2);
const { API_URL = "", API_CA, API_TOKEN = "" } = process.env;
const ConfigMap = builtIn("v1", "ConfigMap");

// From now on SIGTERM stops it in order: before, it would end the process.
process.on("newListener", (event) => {
  if (event === "SIGTERM") process.stdout.write("up\n");
});

await runOperator({
  name: "candidate",
  identity,
  transport: atUrl(API_URL, { ca: API_CA, token: () => API_TOKEN }),
  shards: {
    namespace,
    count: Number(count),
    leaseDuration: 6_000,
    renewDeadline: 4_000,
    retryPeriod: 400,
  },
  health: false,
  signals: process,
  logger: silentLogger,
  setup({ cluster, client, controller }) {
    const maps = cluster.watch(ConfigMap, { labels: { app: "sharded" } });
    return () => [
      controller({
        name: "maps",
        workers: 4,
        sources: [maps.source()],
        async reconcile({ key, signal, leadership }) {
          const { metadata, data } = maps.get(key) ?? {};
          if (data === undefined || data.wanted === data.seen) return;
          const tokens = `${data.tokens ?? ""} ${leadership?.token}`.trim();
          const next = { ...data, seen: data.wanted, by: identity, tokens };
          await client.update(ConfigMap, { metadata, data: next }, { signal });
        },
      }),
    ];
  },
});
