// The operator: writes the number of each object into its status, and takes its finalizer off an object that goes.
import { fromCrd, generationChanged, removeFinalizer, runOperator } from "@holdfast/kubernetes";
import { greetingCrd, NAMESPACE } from "../suites/kubernetes/greeting.mjs";
import { askedBy, countingTransport } from "./api.mjs";
import { FINALIZER } from "./operator.mjs";
import { answering } from "./program.mjs";

const Greeting = fromCrd(greetingCrd);
const counts = { requests: 0, failed: 0, reconciles: 0, terms: 0 };
let caches;
let greetings;

answering({
  tell: () => ({ ...counts, ...askedBy(caches) }),
  texts: () => greetings.list().map(({ metadata, status }) => [metadata.name, status?.text]),
});

await runOperator({
  name: "soak",
  transport: countingTransport(counts),
  leaderElection: { namespace: NAMESPACE, name: "soak" },
  health: false,
  setup({ cluster, client, controller }) {
    caches = cluster;
    greetings = cluster.watch(Greeting);
    async function reconcile({ key, signal }) {
      counts.reconciles++;
      const greeting = greetings.get(key);
      if (greeting === undefined) return;
      const [text] = greeting.spec.name.split(" ");
      if (greeting.metadata.deletionTimestamp !== undefined)
        await removeFinalizer(client, Greeting, greeting, { finalizer: FINALIZER, signal });
      else if (greeting.status?.text !== text)
        await client.patch(Greeting, key, { status: { text } }, { subresource: "status", signal });
    }
    return () => {
      counts.terms++;
      const sources = [greetings.source({ when: generationChanged })];
      return [controller({ name: "soak", workers: 8, sources, reconcile })];
    };
  },
});
