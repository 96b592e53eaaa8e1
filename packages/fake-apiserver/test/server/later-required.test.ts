import { FakeClock } from "@holdfast/clock/testing";
import { fromCrd } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import { LOOSE, requireLater } from "../../../../test/later-required.ts";
import { FakeApi, serveResources } from "../../src/server/fake-api.ts";

it("requires a field of an old object at the root at each write, and below when its parent changes", async () => {
  const api = new FakeApi({ clock: new FakeClock(), resources: [fromCrd(LOOSE)] });
  await requireLater(api.client, async (crd) => serveResources(api, [fromCrd(crd)]));
  expect(api.requests.length).toBeGreaterThan(9);
});
