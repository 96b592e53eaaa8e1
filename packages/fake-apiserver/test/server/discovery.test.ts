import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import { fromCrd } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import { crdOf } from "../../../../test/crd.ts";

const version = (name: string) => ({
  name,
  served: name !== "v4",
  storage: name === "v1beta2",
  schema: { openAPIV3Schema: { type: "object" } },
});

it("prefers the newest stable version of a group, whichever is stored", async () => {
  const names = ["v1alpha1", "v1beta2", "v2", "v10", "v4", "v1beta10"];
  const crd = crdOf({
    group: "versions.example.org",
    kind: "Gauge",
    versions: names.map(version),
  });
  const api = new FakeApi({ clock: new FakeClock(), resources: [fromCrd(crd)] });
  const request = { method: "GET", path: "/apis/versions.example.org", headers: {} } as const;
  const { body } = await api.transport.send(request, new AbortController().signal);
  let text = "";
  for await (const chunk of body) text += Buffer.from(chunk).toString();
  const { versions, preferredVersion } = JSON.parse(text);
  const order = versions.map((one: { version: string }) => one.version);
  expect(order).toEqual(["v10", "v2", "v1beta10", "v1beta2", "v1alpha1"]);
  expect(preferredVersion.version).toBe("v10");
});
