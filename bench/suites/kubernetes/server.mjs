// `node server.mjs PODS EVENTS`: an API server that has so many Pods, and sends so many changes to the
// first watch. Everything is text before the first request, so that serving costs little. Prints its
// address; runs until it is killed.
import { createServer } from "node:http";
import { pod } from "./pods.mjs";

const [count, changes] = process.argv.slice(2).map(Number);
const items = Array.from({ length: count }, (_, i) => JSON.stringify(pod(i, i + 1)));
const events = Array.from({ length: changes }, (_, i) => {
  const object = { apiVersion: "v1", kind: "Pod", ...pod(i % count, count + i + 1) };
  return `${JSON.stringify({ type: "MODIFIED", object })}\n`;
});

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://127.0.0.1");
  if (pathname !== "/api/v1/pods") response.writeHead(404).end();
  else if (searchParams.has("watch")) watch(response, Number(searchParams.get("resourceVersion")));
  else list(response, searchParams);
});

function list(response, query) {
  const from = Number(query.get("continue") ?? 0);
  const limit = Number(query.get("limit") ?? 0) || count;
  const to = Math.min(from + limit, count);
  const metadata = { resourceVersion: `${count}` };
  if (to < count) metadata.continue = `${to}`;
  response.writeHead(200, { "content-type": "application/json" });
  const head = `{"kind":"PodList","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[`;
  response.end(`${head}${items.slice(from, to).join(",")}]}`);
}

async function watch(response, version) {
  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
  for (let i = Math.max(version - count, 0); i < events.length; i += 200) {
    const chunk = events.slice(i, i + 200).join("");
    if (!response.write(chunk)) await new Promise((resolve) => response.once("drain", resolve));
  }
}

server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
