// An operator that leads, with metrics that cost 20 ms, until its parent disconnects. It sends its port, then a
// message at each renewal of its lease and at each end of its work.

import { createServer } from "node:net";
import { realClock } from "@holdfast/clock";
import { FakeApi } from "@holdfast/fake-apiserver";
import { builtIn, runOperator } from "@holdfast/kubernetes";

const free = createServer().listen(0, "127.0.0.1");
await new Promise((resolve) => free.once("listening", resolve));
const { port } = free.address();
await new Promise((resolve) => free.close(resolve));

const Lease = builtIn("coordination.k8s.io/v1", "Lease");
const api = new FakeApi({ clock: realClock, resources: [Lease] });
const text = "x".repeat(1_000_000);
const metrics = () => {
  const end = performance.now() + 20;
  while (performance.now() < end);
  return text;
};
const stop = new AbortController();
process.on("disconnect", () => stop.abort());
const send = (message) => process.connected && process.send(message);

await runOperator(
  {
    name: "attacked",
    transport: {
      description: "fake",
      send(request, signal) {
        if (request.method === "PUT") send("renewed");
        return api.transport.send(request, signal);
      },
    },
    leaderElection: { namespace: "default" },
    health: { port, host: "127.0.0.1", metrics },
    setup: () => () => {
      send({ port });
      return [
        {
          name: "work",
          run: (signal) =>
            new Promise((resolve) => {
              signal.addEventListener("abort", () => {
                send(`ended: ${signal.reason}`);
                resolve();
              });
            }),
        },
      ];
    },
  },
  stop.signal,
);
