// `node server.mjs PODS EVENTS`: an API server that has so many Pods and 1,000 Secrets, and sends so many changes of Pods to
// the first watch. Everything is text before the first request, so that serving costs little. Prints its
// address; runs until it is killed.
import { createServer } from "node:http";
import { pod } from "./pods.mjs";

const [count, changes] = process.argv.slice(2).map(Number);
const items = Array.from({ length: count }, (_, i) => JSON.stringify(pod(i, i + 1)));
const events = Array.from({ length: changes }, (_, i) => {
  const object = { apiVersion: "v1", kind: "Pod", ...pod(i % count, count + i + 1) };
  return `${JSON.stringify({ type: "MODIFIED", object })}\n`;
});

const secrets = Array.from({ length: 1_000 }, (_, i) => {
  const token = Buffer.from(`token of account ${i}`).toString("base64");
  return JSON.stringify({ metadata: { namespace: "team", name: `login-${i}` }, data: { token } });
});

const END_OF_PODS = `${JSON.stringify({
  type: "BOOKMARK",
  object: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { resourceVersion: `${count}`, annotations: { "k8s.io/initial-events-end": "true" } },
  },
})}\n`;

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://127.0.0.1");
  if (pathname === "/api/v1/secrets") listOf(response, "Secret", {}, secrets);
  else if (pathname !== "/api/v1/pods") response.writeHead(404).end();
  else if (searchParams.has("watch")) watch(response, searchParams);
  else list(response, searchParams);
});

function list(response, query) {
  const from = Number(query.get("continue") ?? 0);
  const limit = Number(query.get("limit") ?? 0) || count;
  const to = Math.min(from + limit, count);
  const metadata = { resourceVersion: `${count}` };
  if (to < count) metadata.continue = `${to}`;
  listOf(response, "Pod", metadata, items.slice(from, to));
}

function listOf(response, kind, metadata, texts) {
  response.writeHead(200, { "content-type": "application/json" });
  const head = `{"kind":"${kind}List","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[`;
  response.end(`${head}${texts.join(",")}]}`);
}

/** With `sendInitialEvents` the Pods come first, and a bookmark that ends them: so an informer of client-go begins. */
async function watch(response, query) {
  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
  const isWhole = query.get("sendInitialEvents") === "true";
  if (isWhole) await send(response, items.length, (i) => added(items[i]));
  if (isWhole) response.write(END_OF_PODS);
  const begin = isWhole ? 0 : Math.max(Number(query.get("resourceVersion")) - count, 0);
  await send(response, events.length - begin, (i) => events[begin + i]);
}

const added = (item) =>
  `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1",${item.slice(1)}}\n`;

async function send(response, length, textOf) {
  for (let i = 0; i < length; i += 200) {
    const chunk = Array.from({ length: Math.min(200, length - i) }, (_, k) => textOf(i + k));
    if (!response.write(chunk.join("")))
      await new Promise((resolve) => response.once("drain", resolve));
  }
}

server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
