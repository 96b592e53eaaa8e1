// `node bare-operator.mjs COUNT WORD`: operator.mjs without any package, so the least that Node costs for the same
// requests and the same JSON. It lists and watches greetings, writes "WORD, NAME!" into the status of each, 8 at a time,
// and ends when so many have it. Without a queue, a retry, a limit or a check: never copy it.
import { once } from "node:events";
import { Agent, request } from "node:https";
import { createInterface } from "node:readline";

const [count = "", word = ""] = process.argv.slice(2);
const { API_URL = "", API_CA, API_TOKEN = "" } = process.env;
const agent = new Agent({ keepAlive: true, ca: API_CA });
agent.getName = () => "server"; // or Node would name each connection by its certificates, twice for each request
const authorization = `Bearer ${API_TOKEN}`;
const ALL = "/apis/bench.example.org/v1/greetings";
const WORKERS = 8;

async function send(method, path, body) {
  const headers = { authorization, accept: "application/json" };
  if (body !== undefined) {
    headers["content-type"] = "application/merge-patch+json";
    headers["content-length"] = Buffer.byteLength(body);
  }
  const sent = request(API_URL, { agent, method, path, headers });
  sent.end(body);
  const [response] = await once(sent, "response");
  return response;
}

async function parsed(response) {
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

const textOf = ({ spec }) => `${word}, ${spec.name}!`;
const cache = new Map();
const keyOf = ({ metadata }) => `${metadata.namespace}/${metadata.name}`;
let version = "";
let next = "";
do {
  const page = `${ALL}?limit=500&continue=${encodeURIComponent(next)}`;
  const { items, metadata } = await parsed(await send("GET", page));
  for (const item of items) cache.set(keyOf(item), item);
  version = metadata.resourceVersion;
  next = metadata.continue ?? "";
} while (next !== "");

const waiting = [...cache.values()].filter((object) => object.status?.text !== textOf(object));
const done = new Set();
for (let i = 0; i < WORKERS; i++) patchEach();
const watch = await send("GET", `${ALL}?watch=true&resourceVersion=${version}`);
for await (const line of createInterface(watch)) {
  const { object } = JSON.parse(line);
  cache.set(keyOf(object), object);
  if (object.status?.text === textOf(object)) done.add(keyOf(object));
  if (done.size >= Number(count)) break;
}
const { user, system } = process.cpuUsage();
const { maxRSS } = process.resourceUsage();
const cpu = (user + system) / 1_000;
console.log(JSON.stringify({ cpu, wall: performance.now(), rss: maxRSS * 1_024 }));
process.exit(0);

async function patchEach() {
  for (let object = waiting.pop(); object !== undefined; object = waiting.pop()) {
    const { namespace, name } = object.metadata;
    const path = `/apis/bench.example.org/v1/namespaces/${namespace}/greetings/${name}/status`;
    const body = JSON.stringify({ status: { text: textOf(object) } });
    await parsed(await send("PATCH", `${path}?fieldManager=operator`, body));
  }
}
