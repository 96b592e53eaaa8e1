import { FakeClock } from "@holdfast/clock/testing";
import { fromCrd } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import { FIRST, removeStoredVersion, removeVersion } from "../../../../test/removed-version.ts";
import { ExploredApi } from "../../src/explore/explored-api.ts";

it("answers as a server after a version was removed that entries of managedFields have", async () => {
  const api = new ExploredApi({ clock: new FakeClock(), resources: [fromCrd(FIRST, "v2")] });
  await removeVersion(api.client, async (crd) => api.serve([fromCrd(crd, "v2")]));
  expect(api.requests.length).toBeGreaterThan(30);
});

it("answers as a server after a version was removed in which an object is stored", async () => {
  const api = new ExploredApi({ clock: new FakeClock(), resources: [fromCrd(FIRST, "v2")] });
  await removeStoredVersion(api.client, async (crd) => api.serve([fromCrd(crd, "v2")]));
});
