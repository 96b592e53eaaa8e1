import { FakeClock } from "@holdfast/clock/testing";
import { fromCrd } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import { LOOSE, requireLater } from "../../../../test/later-required.ts";
import { ExploredApi } from "../../src/explore/explored-api.ts";

it("requires a field of an old object at the root at each write, and below when its parent changes", async () => {
  const api = new ExploredApi({ clock: new FakeClock(), resources: [fromCrd(LOOSE)] });
  await requireLater(api.client, async (crd) => api.serve([fromCrd(crd)]));
  expect(api.requests.length).toBeGreaterThan(9);
});
