import { explore } from "@holdfast/kubernetes/testing";
import { expect, test } from "vitest";
import { ConfigMap, Greeting, greeter } from "../../src/greeter/greeter.ts";

const ann = { namespace: "default", name: "ann" };

test("survives every crash", async () => {
  const report = await explore({
    setup: greeter,
    resources: [Greeting, ConfigMap],
    async scenario({ client, clock }) {
      await client.create(Greeting, { metadata: ann, spec: { name: "Ann" } });
      await clock.sleep(1_000);
      await client.patch(Greeting, ann, { spec: { name: "Anna" } });
    },
  });
  expect(report.worlds).toBe(report.planned);
  expect(report.worlds).toBeGreaterThan(40);
});
