import { silentLogger } from "@holdfast/controller";
import { builtIn, ensureCrd, KubeClient } from "@holdfast/kubernetes";
import fc from "fast-check";
import { afterAll, beforeAll, test } from "vitest";
import { Counted, manifest, steps, takeSteps } from "../client/skip-apply-kit.ts";
import { NamedCluster } from "./named-cluster.ts";

const Definition = builtIn("apiextensions.k8s.io/v1", "CustomResourceDefinition");

let named: NamedCluster;

beforeAll(async () => {
  named = await NamedCluster.open();
  await ensureCrd(named.client, manifest);
});

afterAll(async () => {
  await named.client.delete(Definition, manifest.metadata.name);
  await named[Symbol.asyncDispose]();
});

test("an apply with cached sends nothing only if a server would change nothing", async () => {
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const counted = new Counted();
      const { transport, namespace } = named;
      const client = new KubeClient({ transport, logger: silentLogger, metrics: counted.metrics });
      await takeSteps(client, counted, { metadata: { name: `x-${runs++}`, namespace }, taken });
    }),
    { numRuns: 40 },
  );
});
