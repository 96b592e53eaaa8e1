// `npm run apiserver`: builds the API server for `npm run test:cluster`, or says why it cannot. With
// `-- --client-go` also the informer, the operator and the work queue of client-go, the rivals of `npm run bench`. With
// `-- --serve` it runs until Ctrl-C, and forgets everything then.
import { once } from "node:events";
import { readArguments } from "../../tools/arguments.mjs";
import { apiServerPrograms, clientGoPrograms } from "./build.mjs";
import { UnavailableError } from "./run-program.mjs";

const { withClientGo, isServed } = readArguments(
  "npm run apiserver -- [options]\n  --client-go   also builds the rivals on client-go, for npm run bench\n  --serve       starts the server, until Ctrl-C\n  --help",
  { options: { "client-go": { type: "boolean" }, serve: { type: "boolean" } } },
  ({ values }) => ({ withClientGo: values["client-go"], isServed: values["serve"] }),
);
const stop = new AbortController();
for (const signal of /** @type {const} */ (["SIGHUP", "SIGINT", "SIGTERM"]))
  process.on(signal, () => stop.abort(new Error(`${signal}: the build was stopped`)));
try {
  const { devapi, version } = await apiServerPrograms(stop.signal);
  console.log(`${version}: ${devapi}`);
  if (withClientGo) {
    const { informer, operator, queue, version } = await clientGoPrograms(stop.signal);
    console.log(`${version}: ${informer}, ${operator}, ${queue}`);
  }
  if (isServed) await serveUntil(stop.signal);
} catch (error) {
  if (error instanceof UnavailableError) {
    console.log(`NOT RUN: ${error.message}`);
  } else {
    console.error(/** @type {Error} */ (error).message);
    process.exitCode = 1;
  }
}

/** @param {AbortSignal} signal */
async function serveUntil(signal) {
  // The server needs `@holdfast/wait`, which a build alone does not.
  const { ApiServer } = await import("../apiserver.mjs");
  const server = await ApiServer.start(signal);
  try {
    console.log(`
${server.url} until Ctrl-C. In another terminal:

  export KUBECONFIG=${server.kubeconfig}
  ${server.kubectlPath} api-resources`);
    await once(signal, "abort");
  } finally {
    await server[Symbol.asyncDispose]();
  }
}
