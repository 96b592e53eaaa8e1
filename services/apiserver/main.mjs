// `npm run apiserver`: builds the API server for `npm run test:cluster`, or says why it cannot. With
// `-- --client-go` also the informer, the operator and the work queue of client-go, the rivals of `npm run bench`.
import { readArguments } from "../../tools/arguments.mjs";
import { apiServerPrograms, clientGoPrograms } from "./build.mjs";
import { UnavailableError } from "./run-program.mjs";

const withClientGo = readArguments(
  "npm run apiserver -- [options]\n  --client-go   also builds the rivals on client-go, for npm run bench\n  --help",
  { options: { "client-go": { type: "boolean" } } },
  ({ values }) => values["client-go"],
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
} catch (error) {
  if (error instanceof UnavailableError) {
    console.log(`NOT RUN: ${error.message}`);
  } else {
    console.error(/** @type {Error} */ (error).message);
    process.exitCode = 1;
  }
}
