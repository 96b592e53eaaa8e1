// An operator that competes for a Lease. While it leads it writes a journal: a ConfigMap for every step of two
// keys, "tick", which is quick, and "long", whose reconcile is longer than the lease. It tells on its standard
// output when its terms begin and end. Arguments: its identity and the namespace.
import { realClock } from "@holdfast/clock";
import { Controller, silentLogger } from "@holdfast/controller";
import { atUrl, builtIn, runOperator } from "@holdfast/kubernetes";

const [identity = "", namespace = ""] = process.argv.slice(2);
const { API_URL = "", API_CA, API_TOKEN = "" } = process.env;
const ConfigMap = builtIn("v1", "ConfigMap");

/** Longer than the lease of 3 s, in milliseconds. */
const LONG = 4_000;

const say = (/** @type {unknown[]} */ ...words) =>
  process.stdout.write(`${words.join(" ")} ${realClock.now()}\n`);

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
  setup({ cluster, client, logger }) {
    const journal = cluster.watch(ConfigMap, { namespaces: [namespace] });
    return ({ token, lost }) => {
      const known = journal.list().map(({ metadata }) => Number(metadata.resourceVersion));
      say("leads", token, Math.max(0, ...known));
      const write = async (step, number, signal) => {
        lost.throwIfAborted();
        const metadata = { namespace, name: `${token}-${step}-${number}` };
        const data = { token: `${token}`, identity, step, at: `${realClock.now()}` };
        await client.create(ConfigMap, { metadata, data }, { signal });
      };
      let count = 0;
      const controller = new Controller({
        name: "journal",
        workers: 2,
        logger,
        async reconcile({ key, signal }) {
          const number = count++;
          if (key === "tick") {
            await write("tick", number, signal);
            return { requeueAfter: 50 };
          }
          await write("begin", number, signal);
          await realClock.sleep(LONG, { signal });
          await write("end", number, signal);
          return { requeueAfter: 50 };
        },
      });
      controller.add("tick");
      controller.add("long");
      const end = () => say("ended", token, 0);
      const run = (signal, options) => controller.run(signal, options).finally(end);
      return [{ name: "journal", run }];
    };
  },
});
