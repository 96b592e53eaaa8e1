import { explore } from "@holdfast/kubernetes/testing";
import { expect, inject, test } from "vitest";
import { ConfigMap, Greeting, greeter } from "../../src/greeter/greeter.ts";
import { expectExactly, rolesIn } from "../rights.ts";

const roles = rolesIn(new URL("../../src/greeter/deploy/greeter.yaml", import.meta.url));
const ann = { namespace: "default", name: "ann" };

// Three seeds, and up to 1,000 worlds of two faults at a time, in `npm run sim`.
const isThorough: boolean = inject("isThorough");
const pairs = isThorough ? 950 : 20;

test.each(isThorough ? [1, 2, 3] : [1])(
  "the greeter survives every fault, and pairs of them, seed %i",
  async (seed) => {
    const report = await explore({
      time: Number.POSITIVE_INFINITY,
      seed,
      pairs,
      setup: greeter,
      resources: [Greeting, ConfigMap],
      async scenario({ client, clock }) {
        await client.create(Greeting, { metadata: ann, spec: { name: "Ann" } });
        await clock.sleep(1_000);
        await client.patch(Greeting, ann, { spec: { name: "Anna" } });
      },
    });
    expect(report.worlds).toBe(report.planned + pairs);
    expect(report.worlds).toBeGreaterThan(40);
    expectExactly(roles, report.rules);
  },
);

test("a late event does not hold up a stop", async () => {
  const report = await explore({
    time: Number.POSITIVE_INFINITY,
    setup: greeter,
    resources: [Greeting, ConfigMap],
    only: "event-late:10+hand-over:2",
    async scenario({ client, clock }) {
      await client.create(Greeting, { metadata: ann, spec: { name: "Ann" } });
      await clock.sleep(1_000);
      await client.patch(Greeting, ann, { spec: { name: "Anna" } });
    },
  });
  expect(report.worlds).toBe(1);
});
