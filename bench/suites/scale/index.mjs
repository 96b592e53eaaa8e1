// How far one process, and a server, go: docs/how-far-it-goes.md. No contender is a rival here: sizes are compared.
import { outbox } from "../outbox.mjs";
import { caches, served, watchers } from "./informers.mjs";
import { keys } from "./keys.mjs";
import { kinds, SECONDS, simulated } from "./replicas.mjs";

const SIZES = { sizes: [10_000, 50_000, 200_000], quickSizes: [500] };
const ONCE = { samples: 1, milliseconds: 0 };
const { contenders, needs } = outbox.cases.find(({ id }) => id === "due");
const API_SERVER = "Kubernetes API server";

export const scale = {
  id: "n",
  title: "how far it goes",
  cases: [
    {
      ...SIZES,
      ...ONCE,
      id: "cache",
      rounds: 3,
      title:
        "an informer and an API server that replays: a cache of Pods of 2.5 kB, then 20,000 changes",
      unit: "Pods",
      contenders: caches,
    },
    {
      ...ONCE,
      id: "served",
      rounds: 3,
      title: "an informer and a real API server: objects of 2.5 kB",
      sizes: [10_000, 50_000],
      quickSizes: [200],
      unit: "objects",
      needs: () => API_SERVER,
      contenders: { "an informer": served },
    },
    {
      ...ONCE,
      id: "watchers",
      rounds: 3,
      title: "a real API server: 2,000 writes of objects that are watched",
      sizes: [1, 4, 16],
      quickSizes: [1],
      unit: "watches of them",
      needs: () => API_SERVER,
      contenders: { "client.patch": watchers },
    },
    {
      ...ONCE,
      id: "replicas",
      rounds: 1,
      title: `simulated on the fake clock, ${SECONDS} s, ten writes a second`,
      sizes: [1, 4, 16],
      quickSizes: [1],
      unit: "replicas",
      contenders: Object.fromEntries(
        Object.entries(kinds).map(([name, options]) => [name, simulated(options)]),
      ),
    },
    {
      ...SIZES,
      id: "keys",
      samples: 3,
      milliseconds: 0,
      title: "keys that fail and wait for their retry",
      unit: "keys",
      contenders: { "WorkQueue and ExponentialLimiter": keys },
    },
    {
      ...SIZES,
      id: "rows",
      samples: 20,
      milliseconds: 0,
      rounds: 3,
      title: "PostgreSQL: the queries of a store, among messages",
      unit: "that wait",
      needs,
      contenders,
    },
  ],
};
