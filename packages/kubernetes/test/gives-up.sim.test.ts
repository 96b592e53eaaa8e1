import { builtIn, KubeClient, type KubeTransport } from "@holdfast/kubernetes";
import { describe } from "vitest";
import { type Door, IDLE, testGivesUp } from "../../../test/gives-up.contract.ts";
import { Slots } from "../src/transport/slots.ts";
import { scriptedTransport } from "./client/scripted-transport.ts";
import { quietLogger } from "./secrets.ts";

const ConfigMap = builtIn("v1", "ConfigMap");

/** A client whose calls queue for one connection, which each request uses for a second. */
const clientCall: Door = (clock) => {
  const slots = new Slots(1);
  const { transport } = scriptedTransport({ body: { metadata: { name: "ann" } } });
  const queued: KubeTransport = {
    description: "one connection",
    async send(request, signal) {
      const giveBack = await slots.take(signal);
      clock.afterFunc(1_000, giveBack, { label: IDLE[0] });
      return await transport.send(request, signal);
    },
  };
  const client = new KubeClient({ transport: queued, clock, logger: quietLogger() });
  return (signal) => client.get(ConfigMap, "default/ann", { signal });
};

describe("a request that gave up costs no other request anything", () => {
  testGivesUp({ "KubeClient.get": clientCall });
});
