// Counts the functions of the product that one run of each flow calls, and the files that hold them, by the coverage
// of V8: `node tools/flows.mjs`. With `--list` it names them, file by file.
import { existsSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { readArguments } from "./arguments.mjs";

const USAGE = `node tools/flows.mjs [options]    after \`npx tsc -b\`
  --list    names the functions
  --help`;

const isListed = readArguments(
  USAGE,
  { options: { list: { type: "boolean", default: false } } },
  ({ values }) => values.list,
);

const PACKAGES = pathToFileURL(fileURLToPath(new URL("../packages", import.meta.url))).href;
/** Not the product: the doubles that the flows run on. */
const DOUBLES = /\/(?:testing|fake-timers)\/|\/fake-apiserver\//;

/** Imports an entry point of a package that `tsc -b` has built. */
async function load(path) {
  const file = new URL(`${PACKAGES}/${path}`);
  if (!existsSync(file)) throw new Error(`${fileURLToPath(file)} is missing: run \`npx tsc -b\``);
  return await import(file.href);
}

const { FakeClock } = await load("clock/dist/testing/index.js");
const { silentLogger } = await load("controller/dist/index.js");
const { builtIn, runOperator } = await load("kubernetes/dist/index.js");
const { FakeApi } = await load("fake-apiserver/dist/index.js");
const { Outbox, Relay } = await load("outbox/dist/index.js");
const { MemoryStore } = await load("outbox/dist/testing/index.js");
const { retry } = await load("wait/dist/index.js");

const FLOWS = [
  {
    name: "retry",
    says: "`retry` of a function that fails once",
    async run(count) {
      await count(() =>
        retry(
          async ({ attempt }) => {
            if (attempt === 1) throw new Error("503");
          },
          { backoff: { duration: 1, factor: 2, jitter: 0.5 }, retries: 3 },
        ),
      );
    },
  },
  {
    name: "message",
    says: "a message, from `save` until a running relay has delivered it",
    async run(count) {
      const clock = new FakeClock();
      const store = new MemoryStore();
      const sent = [];
      const publisher = { publish: async ({ topic }) => void sent.push(topic) };
      const relay = new Relay({ name: "a", store, publisher, clock, logger: silentLogger });
      const transaction = (work) => store.transaction(work);
      const outbox = new Outbox({ store, transaction, onCommitted: () => relay.wake(), clock });
      const stop = new AbortController();
      const running = relay.run(stop.signal);
      await clock.step(10_000);
      await count(async () => {
        await outbox.transaction((tx) =>
          outbox.save(tx, { topic: "paid", key: "order/1", payload: {} }),
        );
        await clock.step(1_000);
      });
      if (sent.join() !== "paid") throw new Error(`sent: ${sent.join() || "nothing"}`);
      stop.abort();
      await clock.run(() => running);
    },
  },
  {
    name: "key",
    says: "an object, from its creation until a running operator has reconciled it",
    async run(count) {
      const clock = new FakeClock();
      const ConfigMap = builtIn("v1", "ConfigMap");
      const api = new FakeApi({ clock, resources: [ConfigMap] });
      const keys = [];
      const setup = ({ cluster, controller }) => {
        const maps = cluster.watch(ConfigMap);
        const reconcile = async ({ key }) => void (maps.get(key) && keys.push(key));
        return () => [controller({ name: "seen", sources: [maps.source()], reconcile })];
      };
      const stop = new AbortController();
      const options = { name: "seen", transport: api.transport, setup, clock };
      const quiet = { health: false, logger: silentLogger, leaderElection: false };
      await clock.run(async () => {
        const running = runOperator({ ...options, ...quiet }, stop.signal);
        await clock.sleep(10_000);
        await count(async () => {
          // As a person would: not by the client of the operator, which would count.
          const request = {
            method: "POST",
            path: "/api/v1/namespaces/default/configmaps",
            body: JSON.stringify({ metadata: { name: "a" } }),
            headers: { "content-type": "application/json" },
          };
          await api.transport.send(request, stop.signal);
          await clock.sleep(1_000);
        });
        stop.abort();
        await running;
      });
      if (keys.join() !== "default/a") throw new Error(`reconciled: ${keys.join() || "nothing"}`);
    },
  },
];

const session = new Session();
session.connect();
await session.post("Profiler.enable");

/** The functions of the product that `work` calls, by file. */
async function calledBy(work) {
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await work();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  await session.post("Profiler.stopPreciseCoverage");
  const files = new Map();
  for (const { url, functions } of result) {
    if (!url.startsWith(PACKAGES) || DOUBLES.test(url)) continue;
    const names = functions
      .filter(isCalled)
      .map(({ functionName }) => functionName || "(anonymous)");
    if (names.length > 0)
      files.set(url.slice(PACKAGES.length + 1).replace("/dist/", "/src/"), names);
  }
  return files;
}

/**
 * Not counted: the fields of a class, and the helpers of the compiler.
 *
 * @param {import("node:inspector").Profiler.FunctionCoverage} covered
 */
function isCalled({ functionName, ranges: [whole] }) {
  return whole !== undefined && whole.count > 0 && !/^(?:<|__)/.test(functionName);
}

for (const { name, says, run } of FLOWS) {
  let files;
  await run(async (work) => {
    files = await calledBy(work);
  });
  const total = [...files.values()].reduce((sum, names) => sum + names.length, 0);
  console.log(`${name}: ${total} functions in ${files.size} files, ${says}`);
  if (!isListed) continue;
  for (const [file, names] of files) console.log(`  ${file}: ${names.join(", ")}`);
}
session.disconnect();
