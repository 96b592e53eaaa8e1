// The informers, with one controller that tells each change.
import { Controller } from "@holdfast/controller";
import { builtIn, Cluster } from "@holdfast/kubernetes";
import { askedBy, countingTransport } from "./api.mjs";
import { answering } from "./program.mjs";

const counts = { requests: 0, failed: 0 };
const cluster = new Cluster({ transport: countingTransport(counts) });
const ConfigMap = builtIn("v1", "ConfigMap");
const informers = Array.from({ length: Number(process.env.COUNT) }, (_, i) =>
  cluster.watch(ConfigMap, { namespaces: [`soak-${i}`] }),
);
const numberOf = (i) =>
  Number(informers[i].get({ namespace: `soak-${i}`, name: "object-0" })?.data.number);
const controller = new Controller({
  name: "informers",
  sources: informers.map((informer) => informer.source()),
  reconcile({ key }) {
    const i = Number(/^soak-(\d+)\//.exec(key)?.[1]);
    process.send?.({ informer: i, number: numberOf(i) });
  },
});

const { signal } = new AbortController();
const ready = cluster.ready(signal);
answering({
  ready: () => ready,
  numbers: () => informers.map((_, i) => numberOf(i)),
  tell: () => ({
    ...counts,
    ...askedBy(cluster),
    connections: process.getActiveResourcesInfo().filter((name) => /^TCP/.test(name)).length,
  }),
});
await Promise.all([cluster.run(signal), ready.then(() => controller.run(signal))]);
