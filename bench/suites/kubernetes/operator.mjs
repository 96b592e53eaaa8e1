// `node operator.mjs COUNT WORD`: as services/apiserver/operator/main.go does it with client-go. Watches greetings,
// writes "WORD, NAME!" into the status of each, and ends when its cache has so many greetings with that status.
// Prints what that has cost, from the start of the process on, as JSON.
import { Controller } from "@holdfast/controller";
import { atUrl, fromCrd, runOperator } from "@holdfast/kubernetes";
import { greetingCrd } from "./greeting.mjs";

const [count = "", word = ""] = process.argv.slice(2);
const { API_URL = "", API_CA, API_TOKEN = "" } = process.env;
const Greeting = fromCrd(greetingCrd);
const done = new Set();

await runOperator({
  name: "operator",
  transport: atUrl(API_URL, { ca: API_CA, token: () => API_TOKEN }),
  leaderElection: false,
  health: false,
  setup({ cluster, client }) {
    const greetings = cluster.watch(Greeting);
    const controller = new Controller({
      name: "operator",
      workers: 8,
      sources: [greetings.source()],
      async reconcile({ key, signal }) {
        const greeting = greetings.get(key);
        if (greeting === undefined) return;
        const text = `${word}, ${greeting.spec.name}!`;
        if (greeting.status?.text === text) finish(key);
        else
          await client.patch(
            Greeting,
            key,
            { status: { text } },
            { subresource: "status", signal },
          );
      },
    });
    return () => [controller];
  },
});

function finish(key) {
  done.add(key);
  if (done.size < Number(count)) return;
  const { user, system } = process.cpuUsage();
  const { maxRSS } = process.resourceUsage();
  const cpu = (user + system) / 1_000;
  console.log(JSON.stringify({ cpu, wall: performance.now(), rss: maxRSS * 1_024 }));
  process.exit(0);
}
