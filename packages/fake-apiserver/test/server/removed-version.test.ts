import { FakeClock } from "@holdfast/clock/testing";
import { fromCrd } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import { FIRST, removeVersion } from "../../../../test/removed-version.ts";
import { FakeApi, serveResources } from "../../src/server/fake-api.ts";

it("answers as a server after a version was removed that entries of managedFields have", async () => {
  const api = new FakeApi({ clock: new FakeClock(), resources: [fromCrd(FIRST, "v2")] });
  await removeVersion(api.client, async (crd) => serveResources(api, [fromCrd(crd, "v2")]));
  expect(api.requests.length).toBeGreaterThan(30);
});
