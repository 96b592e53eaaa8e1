// A server that needs a moment before it is ready, as real ones do.
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

await sleep(1_000);
createServer((request, response) => {
  response.statusCode = request.url === "/healthz" ? 200 : 404;
  response.end("ok\n");
}).listen(Number(process.env.PORT), "127.0.0.1");
