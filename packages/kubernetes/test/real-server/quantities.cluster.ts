import { builtIn, type KubeObject, Quantity } from "@holdfast/kubernetes";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { quantityTexts } from "../object/quantity-texts.ts";
import { NamedCluster } from "./named-cluster.ts";

interface PodObject extends KubeObject {
  spec: { containers: { name: string; resources: { limits: Record<string, string> } }[] };
}
const Pod = builtIn<PodObject>("v1", "Pod");

/** A server cuts more than this, with a binary suffix. */
const LARGEST = new Quantity("9223372036854775807");

let named: NamedCluster;

beforeAll(async () => {
  named = await NamedCluster.open();
});

afterAll(async () => await named[Symbol.asyncDispose]());

test("a quantity has the value and the text that a server makes of it", async () => {
  const texts = fc.array(quantityTexts, { minLength: 50, maxLength: 50 });
  await fc.assert(
    fc.asyncProperty(texts, async (drawn) => {
      const limits = Object.fromEntries(
        drawn.map((text, index) => [`example.org/r${index}`, text]),
      );
      const image = "registry.k8s.io/pause";
      const pod = {
        metadata: { name: "quantities", namespace: named.namespace },
        spec: { containers: [{ name: "one", image, resources: { limits } }] },
      };
      const stored = await named.client.create(Pod, pod, { dryRun: true });
      const canonical = stored.spec.containers[0]?.resources.limits ?? {};
      for (const [name, text] of Object.entries(limits)) {
        const own = new Quantity(text);
        const theirs = canonical[name] ?? "";
        const isCut =
          /i$/.test(text) &&
          [own, new Quantity(0).subtract(own)].some((one) => one.compare(LARGEST) > 0);
        // Go writes 1000E as 1.
        const isLost = /^-?\d{4,}E$/.test(String(own));
        if (isCut || isLost) continue;
        expect([text, new Quantity(theirs).compare(own)]).toEqual([text, 0]);
        // A server gives some texts back as they came: +1, 05, 5., 1e+3.
        if (theirs !== text) expect([text, String(own)]).toEqual([text, theirs]);
      }
    }),
    { numRuns: 40 },
  );
});
