// `npm run test:cluster`: the tests that need a real Kubernetes API server.
//
// Builds the server if it is not built yet, starts it with its etcd on free ports of the loopback interface, runs
// the tests, and stops what it started, however it ends. Tests that kill a server or change its history start
// one of their own. KUBECONFIG names another cluster instead: such tests then do not run, and their names say why. `--record` makes the
// recordings in packages/fake-apiserver/conformance anew; other arguments go to vitest.
import { ApiServer } from "./apiserver.mjs";
import { runSuite, seconds } from "./suite.mjs";

const args = process.argv.slice(2);

await runSuite({
  config: "vitest.cluster.config.ts",
  args: args.filter((one) => one !== "--record"),
  start: startCluster,
});

/** The environment of the tests; see test/cluster.ts, which reads it. */
async function startCluster(signal, keep) {
  const mode = args.includes("--record") ? { HOLDFAST_RECORD: "1" } : {};
  const given = process.env["KUBECONFIG"];
  if (given) {
    if (mode.HOLDFAST_RECORD)
      throw new Error("--record needs our own API server: unset KUBECONFIG");
    console.log(
      "Kubernetes  from KUBECONFIG; tests that kill a server or change its history are skipped",
    );
    return { HOLDFAST_FOREIGN_CLUSTER: "1" };
  }
  const since = performance.now();
  const server = await ApiServer.start(signal);
  keep(server);
  console.log(`Kubernetes  ${server.version} ready in ${seconds(since)} on ${server.url}`);
  return { ...mode, KUBECONFIG: server.kubeconfig, HOLDFAST_KUBECTL: server.kubectlPath };
}
