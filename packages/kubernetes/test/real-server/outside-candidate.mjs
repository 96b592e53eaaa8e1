// An operator with an outside: a record at a provider for each ConfigMap, and none for one that is gone. Every call names the
// token of its term, by which the provider knows a leader of the past. Arguments: its identity, the namespace and the
// provider's URL.
import { realClock } from "@holdfast/clock";
import { silentLogger } from "@holdfast/controller";
import { atUrl, builtIn, finalize, runOperator } from "@holdfast/kubernetes";
import { expectOk } from "@holdfast/wait";

const [identity = "", namespace = "", provider = ""] = process.argv.slice(2);
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
  leaderElection: { namespace, leaseDuration: 3_000, renewDeadline: 2_000, retryPeriod: 200 },
  health: false,
  signals: process,
  logger: silentLogger,
  setup({ cluster, client, controller }) {
    const maps = cluster.watch(ConfigMap, { namespaces: [namespace], labels: { app: "outside" } });
    return ({ token }) => {
      process.stdout.write(`leads ${token} 0 ${realClock.now()}\n`);
      return [
        controller({
          name: "records",
          workers: 4,
          sources: [maps.source()],
          async reconcile({ key, signal }) {
            const map = maps.get(key);
            if (map === undefined) return undefined;
            const ask = async (/** @type {string} */ method, body = "") => {
              const headers = { "fencing-token": `${token}` };
              const init = { method, headers, signal, ...(body === "" ? {} : { body }) };
              await expectOk(await fetch(`${provider}/${map.metadata.name}`, init));
            };
            return await finalize(client, ConfigMap, map, {
              finalizer: "example.org/record",
              apply: (known) => ask("PUT", known.data?.["wanted"]),
              cleanup: () => ask("DELETE"),
              signal,
            });
          },
        }),
      ];
    };
  },
});
