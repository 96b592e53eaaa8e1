// An endpoint in a process of its own, so that its CPU time is not a contender's. It confirms each post at
// once. Its parent asks for the arrivals: an instant of the machine's monotonic clock, in ms, by number.
import { createServer } from "node:http";

const arrivals = new Map();

const server = createServer((request, response) => {
  const at = performance.timeOrigin + performance.now();
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", () => {
    arrivals.set(JSON.parse(body).order, at);
    response.writeHead(204).end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
process.on("message", () => {
  process.send({ arrivals: [...arrivals] });
  arrivals.clear();
});
process.on("disconnect", () => process.exit(0));
