#!/usr/bin/env bash
# Package: undici 8.13.1
# Guess: RetryAgent either repeats the body of a PUT or does not retry a body that it has consumed.
# Seen: it sends the PUT again with an empty body, and the call resolves with 200: the server has stored nothing. A
# string through `fetch` is not sent again: the call rejects although the server is back.
. "$(dirname "$0")/lib.sh"
node_of 26.10.0
packages undici@8.13.1
observe <<'JS'
import { Agent, fetch, RetryAgent, request } from "undici";
import { serve } from "./kit.mjs";

const calls = {
  "fetch, stream": (url, dispatcher) =>
    fetch(url, { dispatcher, method: "PUT", body: new Blob(["hello"]).stream(), duplex: "half" }),
  "fetch, string": (url, dispatcher) => fetch(url, { dispatcher, method: "PUT", body: "hello" }),
  "request, generator": (url, dispatcher) =>
    request(url, { dispatcher, method: "PUT", body: (async function* () { yield "hello"; })() }),
  "request, string": (url, dispatcher) => request(url, { dispatcher, method: "PUT", body: "hello" }),
};
for (const [name, call] of Object.entries(calls)) {
  const bodies = [];
  const server = await serve((_, response, number, body) => {
    bodies.push(body);
    response.writeHead(number === 1 ? 503 : 200).end();
  });
  const dispatcher = new RetryAgent(new Agent(), { minTimeout: 50 });
  const outcome = await call(server.url, dispatcher).then(
    (answer) => answer.status ?? answer.statusCode,
    (error) => `${error.message}: ${error.cause?.code}`,
  );
  console.log(`${name}: ${outcome}; bodies received: ${JSON.stringify(bodies)}`);
  server.close();
  await dispatcher.destroy();
}
JS
expect <<'TEXT'
fetch, stream: 200; bodies received: ["hello",""]
fetch, string: fetch failed: UND_ERR_REQ_CONTENT_LENGTH_MISMATCH; bodies received: ["hello"]
request, generator: 200; bodies received: ["hello",""]
request, string: 200; bodies received: ["hello","hello"]
TEXT
