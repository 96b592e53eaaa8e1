// `node replica.mjs NAME leader|shards`: a replica of an operator whose reconcile waits for the network, and does no
// more. It is told to work on all objects at once, as by a resync, and tells what it has done, and what that has cost.
import { fromCallback, silentLogger } from "@holdfast/controller";
import { atUrl, builtIn, runOperator } from "@holdfast/kubernetes";
import { COUNT, NAMESPACE, WAIT } from "./objects.mjs";

const [name = "", mode = ""] = process.argv.slice(2);
const { API_URL = "", API_CA, API_TOKEN = "" } = process.env;
const ConfigMap = builtIn("v1", "ConfigMap");
const leases = { namespace: NAMESPACE, name };
const network = atUrl(API_URL, { ca: API_CA, token: () => API_TOKEN });
let requests = 0;
let enqueueAll = () => {};
let isToldToWork = false;
/** Keys that were reconciled since then, and the instant of the last one. */
const done = new Set();
let lastAt = 0;

process.on("message", (message) => {
  if (message === "work") {
    isToldToWork = true;
    enqueueAll();
  }
  tell();
});
process.on("disconnect", () => process.exit());
setInterval(tell, 250);

/** The instant is on the monotonic clock of the machine, which all processes share. */
function tell() {
  const { user, system } = process.cpuUsage();
  process.send?.({
    done: done.size,
    lastAt,
    requests,
    cpu: (user + system) / 1_000,
    at: instant(),
  });
}

const instant = () => Number(process.hrtime.bigint()) / 1e6;

await runOperator({
  name: "bench",
  transport: {
    ...network,
    send(...request) {
      requests++;
      return network.send(...request);
    },
  },
  ...(mode === "leader" ? { leaderElection: leases } : { shards: { ...leases, count: COUNT } }),
  health: false,
  logger: silentLogger,
  setup({ cluster, clock, controller }) {
    const objects = cluster.watch(ConfigMap, { namespaces: [NAMESPACE] });
    const all = fromCallback("all", (enqueue) => {
      enqueueAll = () => {
        for (const { metadata } of objects.list())
          enqueue(`${metadata.namespace}/${metadata.name}`);
      };
      // A slot that comes later starts the source anew.
      if (isToldToWork) enqueueAll();
    });
    return () => [
      controller({
        name: "objects",
        sources: [all],
        async reconcile({ key, signal }) {
          await clock.sleep(WAIT, { signal });
          done.add(key);
          lastAt = instant();
        },
      }),
    ];
  },
});
