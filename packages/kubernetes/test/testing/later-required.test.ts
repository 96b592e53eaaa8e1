import { FakeClock } from "@holdfast/clock/testing";
import { fromCrd } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import { FakeApi, serveResources } from "../../src/testing/fake-api.ts";
import { LOOSE, requireLater } from "../later-required.ts";

it("requires a field of an old object at the root at each write, and below when its parent changes", async () => {
  const api = new FakeApi({ clock: new FakeClock(), resources: [fromCrd(LOOSE)] });
  await requireLater(api.client, async (crd) => serveResources(api, [fromCrd(crd)]));
  expect(api.requests.length).toBeGreaterThan(9);
});
