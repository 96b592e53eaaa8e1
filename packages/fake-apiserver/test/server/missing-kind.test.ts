import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import { builtIn, customResource, isApiError, KubeClient } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";

const ConfigMap = builtIn("v1", "ConfigMap");
const names = { kind: "Widget", plural: "widgets" } as const;
const Widget = customResource({ ...names, apiVersion: "example.org/v1" });
const Newer = customResource({ ...names, apiVersion: "example.org/v2" });
const Secret = builtIn("v1", "Secret");
const Lease = builtIn("coordination.k8s.io/v1", "Lease");
const clock = new FakeClock();
const resources = [ConfigMap, Widget];
const { signal } = new AbortController();

const KNOWN =
  "add the kind to options.resources, which has ConfigMap of v1, Widget of example.org/v1";

async function responseTo(method: string, path: string, known = resources): Promise<string> {
  const api = new FakeApi({ clock, resources: known });
  const { status, body } = await api.transport.send({ method, path, headers: {} }, signal);
  let text = "";
  for await (const chunk of body) text += Buffer.from(chunk).toString();
  return `${status} ${text}`;
}

/** The paths of a kind, with the methods that they have. */
const PATHS = ["GET", "POST", "PUT", "PATCH", "DELETE"].flatMap((method) =>
  ["", "?watch=true", "/a", "/a/status", "/a/scale", "/a/other", "/a/other/deeper"].map(
    (rest) => [method, rest] as const,
  ),
);

describe("a kind that resources lacks is named in the response", () => {
  describe.each([
    ["secrets", "v1", "/api/v1"],
    ["leases", "coordination.k8s.io/v1", "/apis/coordination.k8s.io/v1"],
    ["widgets", "example.org/v2", "/apis/example.org/v2"],
    ["gadgets", "example.org/v1", "/apis/example.org/v1"],
  ])("%s of %s", (plural, apiVersion, root) => {
    const advice = `FakeApi does not serve ${plural} of ${apiVersion}: ${KNOWN}`;

    it.each(PATHS)("to %s %s", async (method, rest) => {
      for (const place of [plural, `namespaces/default/${plural}`, `watch/${plural}`])
        expect(await responseTo(method, `${root}/${place}${rest}`)).toMatch(
          new RegExp(`^404 (404 page not found: |\\{"kind":"Status".*).*${advice}`, "s"),
        );
    });
  });

  it.each([
    ["/apis/apps", "apps"],
    ["/apis/apps/v1", "apps/v1"],
    ["/apis/example.org/v2", "example.org/v2"],
  ])("to the discovery at %s", async (path, name) => {
    const advice = `FakeApi does not serve anything of ${name}: ${KNOWN}`;
    expect(await responseTo("GET", path)).toBe(`404 404 page not found: ${advice}\n`);
  });

  it("by an empty list", async () => {
    expect(await responseTo("GET", "/api/v1/secrets", [])).toContain(
      "add the kind to options.resources, which is empty",
    );
  });

  it.each([Secret, Lease, Newer])("in the error of a client for %o", async (resource) => {
    const { transport } = new FakeApi({ clock, resources });
    const client = new KubeClient({ transport, clock });
    const error = await errorOf(client.get(resource, "default/a"));
    expect(String(error)).toContain(
      `FakeApi does not serve ${resource.plural} of ${resource.apiVersion}`,
    );
    // A server with the group answers by a Status.
    expect(isApiError(error, "NotFound")).toBe(resource === Secret);
  });
});

it.each([
  ["GET", "/api/v1/namespaces/default/configmaps/a"],
  ["GET", "/api/v1/namespaces/default/configmaps/a/other"],
  ["GET", "/apis/example.org/v1/namespaces/default/widgets/a"],
  ["GET", "/apis/example.org/v1/namespaces/default/widgets/a/scale"],
  ["POST", "/apis/example.org/v1/widgets"],
  ["GET", "/apis/example.org/v1/widgets/a/b/c"],
  ["GET", "/other"],
  ["GET", "/%"],
])("a 404 of %s %s, whose kind is there, has no advice", async (method, path) => {
  const response = await responseTo(method, path);
  expect(response).toMatch(/^404 /);
  expect(response).not.toContain("FakeApi");
});
