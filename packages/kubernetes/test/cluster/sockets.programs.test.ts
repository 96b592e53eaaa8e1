import { realClock } from "@holdfast/clock";
import { silentLogger } from "@holdfast/controller";
import { FakeApi } from "@holdfast/fake-apiserver";
import { atUrl, Cluster, type KubeTransport } from "@holdfast/kubernetes";
import { describe, expect, inject, it } from "vitest";
import { canCountSockets, socketsTo } from "../../../../test/sockets-to.ts";
import { ConfigMap, Greeting } from "./cluster-kit.ts";

/** Each moment once, or ten times. */
const STOPS = inject("isThorough") ? 1_000 : 100;

/** Calls `then` some microtasks after the request with this number was sent. */
function afterRequest(
  transport: KubeTransport,
  { number, microtasks }: { number: number; microtasks: number },
  then: () => void,
): KubeTransport {
  let requests = 0;
  const wait = async (): Promise<void> => {
    for (let i = 0; i < microtasks; i++) await null;
    then();
  };
  const send: KubeTransport["send"] = (request, signal) => {
    const answer = transport.send(request, signal);
    if (++requests === number) void wait();
    return answer;
  };
  return { description: "counted", send, closeIdle: async () => await transport.closeIdle?.() };
}

describe.skipIf(!canCountSockets)("over HTTP, when the run of a cluster has resolved", () => {
  it(`no connection is open, ${STOPS} times at any moment of its requests`, async () => {
    const api = new FakeApi({ clock: realClock, resources: [Greeting, ConfigMap] });
    await using front = await api.listen();
    const port = Number(new URL(front.url).port);
    let connected = 0;
    for (let at = 0; at < STOPS; at++) {
      const stop = new AbortController();
      const moment = { number: 1 + (at % 5), microtasks: Math.floor(at / 5) % 20 };
      const transport = afterRequest(atUrl(front.url), moment, () => {
        if (socketsTo(port) > 0) connected++;
        stop.abort();
      });
      const cluster = new Cluster({ transport, logger: silentLogger });
      cluster.watch(Greeting);
      cluster.watch(ConfigMap);
      const ask = (): Promise<unknown> =>
        cluster.client.find(ConfigMap, "default/ann", { signal: stop.signal });
      const asking = cluster
        .ready(stop.signal)
        .then(ask)
        .catch(() => undefined);
      await cluster.run(stop.signal);
      expect(socketsTo(port), JSON.stringify(moment)).toBe(0);
      await asking;
    }
    expect(connected).toBeGreaterThan(STOPS / 2);
  });
});
