import { explore } from "@holdfast/fake-apiserver";
import { expect, inject, test } from "vitest";
import { Website } from "../../src/website/resources.ts";
import { websites } from "../../src/website/website.ts";
import { expectExactly, rolesIn } from "../rights.ts";
import { FakeDns } from "./fake-dns.ts";
import { home, resources, spec, startPods, TARGET } from "./website-world.ts";

const roles = rolesIn(new URL("../../src/website/deploy/website.yaml", import.meta.url));
const isThorough: boolean = inject("isThorough");
const gone = { ...home, name: "gone" };

test.each([inject("simSeed")])(
  "sites and records end alike after every fault, and pairs of them, seed %i",
  async (seed) => {
    const [worlds, pairs] = isThorough ? [1_000, 900] : [40, 5];
    const report = await explore<FakeDns>({
      seed,
      worlds,
      pairs,
      resources,
      world: () => new FakeDns(),
      setup: (context) => websites(context.link(context.world, "dns"), TARGET)(context),
      stateOf: ({ records }) => [...records.values()].sort(),
      async scenario({ client, clock }) {
        await client.create(Website, { metadata: home, spec });
        await client.create(Website, {
          metadata: gone,
          spec: { ...spec, host: "gone.example.org" },
        });
        // Another controller adds its finalizer while the operator adds its own.
        await client.patch(Website, gone, { metadata: { finalizers: ["example.org/other"] } });
        await clock.sleep(300_000);
        await startPods(client);
        await client.patch(Website, home, { spec: { page: "<h1>Bye</h1>" } });
        await client.patch(Website, gone, { metadata: { finalizers: ["example.org/dns"] } });
        await client.delete(Website, gone);
        await clock.sleep(300_000);
        await startPods(client);
      },
    });
    expect(report.worlds).toBe(Math.min(worlds, report.planned) + pairs);
    expectExactly(roles, report.rules);
  },
);
