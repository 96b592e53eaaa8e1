import type { Socket } from "node:net";
import { FakeClock } from "@holdfast/clock/testing";
import { atUrl, fromKubeConfig, type KubeTransport } from "@holdfast/kubernetes";
import { afterEach } from "vitest";
import { type Door, testFreshConnections } from "../../../../test/fresh-connections.contract.ts";
import { readBody } from "../../src/transport/read-body.ts";
import { certificates } from "../certificates/certificates.ts";
import { quietLogger } from "../secrets.ts";
import { answer, testServer } from "./test-server.ts";

const ends: (() => PromiseLike<unknown> | undefined)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

type Fate = "silence" | "reset";

/** A transport to a server whose connections can go bad, and what its credentials are. */
async function open(
  transportTo: (url: string) => { transport: KubeTransport; ways?: Door["ways"] },
): Promise<Door> {
  const numbers = new Map<Socket, number>();
  const fates = new Map<Socket, Fate>();
  const used: number[] = [];
  const server = await testServer((_, response) => {
    const { socket } = response;
    if (socket === null) return;
    const number = numbers.get(socket) ?? numbers.size + 1;
    numbers.set(socket, number);
    used.push(number);
    const fate = fates.get(socket);
    if (fate === "reset") socket.destroy();
    else if (fate === undefined) answer(response, 200, {});
  }, certificates.server);
  const { transport, ways } = transportTo(server.url);
  ends.push(
    () => transport.closeIdle?.(),
    () => server[Symbol.asyncDispose](),
  );
  const meet = (fate: Fate) => (): void => {
    for (const socket of numbers.keys()) fates.set(socket, fate);
  };
  return {
    async use(signal) {
      const request = { method: "PUT", path: "/version", headers: {} };
      const { body } = await transport.send(request, signal);
      await readBody(body, 1_000, "test");
      await new Promise((resolve) => setImmediate(resolve)); // the agent takes the connection back
    },
    used,
    ways: {
      "was reset": meet("reset"),
      "was forgotten, until the caller gave up": meet("silence"),
      ...ways,
    },
  };
}

const logger = quietLogger();
const { ca, client, elsewhere } = certificates;

const kubeConfig = () =>
  open((url) => {
    const clock = new FakeClock();
    let tls: object = { ca, ...client };
    const config = {
      getCurrentCluster: () => ({ server: url }),
      applyToHTTPSOptions: async (options: object) => Object.assign(options, tls),
    };
    const replace = (next: object) => async (): Promise<void> => {
      tls = next;
      await clock.step(10_000);
    };
    const transport = fromKubeConfig(config as never, { clock, logger });
    const ways = {
      "has a client certificate that was renewed": replace({ ca, ...elsewhere }),
      "has an authority that was renewed": replace({
        ca: `${ca}\n${certificates.otherCa}`,
        ...client,
      }),
    };
    return { transport, ways };
  });

testFreshConnections(
  { "a transport": () => open((url) => ({ transport: atUrl(url, { ca, logger }) })) },
  ["was reset", "was forgotten, until the caller gave up"],
);

testFreshConnections({ "a transport with a client certificate": kubeConfig }, [
  "was reset",
  "was forgotten, until the caller gave up",
  "has a client certificate that was renewed",
  "has an authority that was renewed",
]);
