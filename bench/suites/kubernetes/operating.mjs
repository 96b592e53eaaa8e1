// Samples of an operator: a program that ends when its cache has all objects with the status that it has written.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { cpuOfServer } from "../../machine.mjs";
import { greetingCrd, NAMESPACE } from "./greeting.mjs";

const [OPERATOR, BARE] = ["operator.mjs", "bare-operator.mjs"].map((name) =>
  fileURLToPath(new URL(name, import.meta.url)),
);

/** Programs that take the number of objects and a word. Both print milliseconds and bytes as JSON. */
export const runOperator = () => [process.execPath, OPERATOR];
export const bareOperator = () => [process.execPath, BARE];
export const clientGo = () => [process.env.HOLDFAST_BENCH_OPERATOR];

/** A sample: a program from its start to the end. Each makes another status of the same objects. */
export function operating(commandOf) {
  return async (count) => {
    await prepare(count);
    const [program, ...args] = commandOf();
    return async () => {
      const before = cpuOfServer();
      const word = `Hello-${randomUUID().slice(0, 8)}`;
      const { stdout } = await promisify(execFile)(program, [...args, `${count}`, word]);
      const { cpu, wall, rss } = resultOf(stdout);
      const perObject = (milliseconds) => (milliseconds * 1_000) / count;
      return {
        "cpu µs/object": perObject(cpu),
        "wall µs/object": perObject(wall),
        "server cpu µs/object": perObject(cpuOfServer() - before),
        "largest RSS MB": rss / 1e6,
      };
    };
  };
}

/** What a program has measured: the last line that holds it. An operator logs lines of JSON, too. */
export function resultOf(stdout) {
  for (const line of stdout.split("\n").reverse()) {
    const result = parsed(line);
    if (["cpu", "wall", "rss"].every((name) => typeof result?.[name] === "number")) return result;
  }
  throw new Error(`no line with cpu, wall and rss in: ${stdout.slice(-200)}`);
}

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Makes the objects. Nothing of this is measured. */
async function prepare(count) {
  const { atUrl, ensureCrd, fromCrd, KubeClient } = await import("@holdfast/kubernetes");
  const { API_URL, API_CA, API_TOKEN } = process.env;
  const client = new KubeClient({
    transport: atUrl(API_URL, { ca: API_CA, token: () => API_TOKEN }),
  });
  await ensureCrd(client, greetingCrd);
  const Greeting = fromCrd(greetingCrd);
  const there = new Set();
  for await (const { metadata } of client.list(Greeting)) there.add(metadata.name);
  const names = Array.from({ length: count }, (_, i) => `greeting-${i}`);
  const missing = names.filter((name) => !there.has(name))[Symbol.iterator]();
  const create = async () => {
    for (const name of missing) {
      const metadata = { namespace: NAMESPACE, name, labels: { app: "greeter" } };
      await client.create(Greeting, { metadata, spec: { name } });
    }
  };
  await Promise.all(Array.from({ length: 32 }, create));
}
