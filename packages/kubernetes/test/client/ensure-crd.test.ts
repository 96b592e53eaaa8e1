import { FakeClock } from "@holdfast/clock/testing";
import { ensureCrd, KubeClient } from "@holdfast/kubernetes";
import { isTimeoutError } from "@holdfast/wait";
import { describe, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { timelineOf } from "../../../../test/timeline.ts";
import { safeErrorOf } from "../secrets.ts";
import { type Answer, failure, scriptedTransport } from "./scripted-transport.ts";

const manifest = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "greetings.example.org", labels: { mine: "1" }, annotations: { a: "1" } },
  spec: {
    group: "example.org",
    scope: "Namespaced",
    names: { kind: "Greeting", plural: "greetings" },
    versions: [
      { name: "v1alpha1", served: true, storage: false },
      { name: "v1", served: true, storage: true },
      { name: "v0", served: false, storage: false },
    ],
  },
};

const missing = failure(404, "NotFound");
const list: Answer = { body: { items: [] } };
const unknown: Answer = { status: 404, body: "404 page not found\n" };

/** The definition as the server has it. */
function stored(conditions: readonly object[] = [], more: object = {}): Answer {
  const metadata = { name: "greetings.example.org", uid: "u", resourceVersion: "7", ...more };
  return { body: { ...manifest, metadata, status: { conditions } } };
}

const established = stored([
  { type: "NamesAccepted", status: "True" },
  { type: "Established", status: "True" },
]);

function world(...steps: readonly (Answer | Error | "silence")[]) {
  const clock = new FakeClock();
  const timeline = timelineOf(clock);
  const { transport, requests } = scriptedTransport(...steps);
  const client = new KubeClient({
    clock,
    transport: {
      description: "script",
      send: (request, signal) => {
        const path = request.path.replace(/\?.*/, "").replace(/.*\/(?=[^/]+\/[^/]+$)/, "");
        timeline.note(`${request.method} ${path}`);
        return transport.send(request, signal);
      },
    },
  });
  return { clock, client, timeline, requests };
}

const CRD = "customresourcedefinitions/greetings.example.org";

describe("ensureCrd", () => {
  it("keeps the labels and annotations of a definition whose manifest has none", async () => {
    const bare = { ...manifest, metadata: { name: "greetings.example.org" } };
    const old = stored([], { labels: { theirs: "1" }, annotations: { b: "1" } });
    const changed = { ...old, body: { ...(old.body as object), spec: {} } };
    const { clock, client, requests } = world(changed, changed, established, established, list);
    await clock.run(() => ensureCrd(client, bare));
    const put = requests.find(({ method }) => method === "PUT");
    expect(JSON.parse(put?.body ?? "")).toMatchObject({
      metadata: { labels: { theirs: "1" }, annotations: { b: "1" } },
      spec: manifest.spec,
    });
  });

  it.each([
    ["the server's, if the manifest has none", undefined, "theirs"],
    ["that of the manifest", "mine", "mine"],
  ])("keeps the caBundle of a conversion: %s", async (_, own, kept) => {
    const conversion = (caBundle: string | undefined) => ({
      strategy: "Webhook",
      webhook: {
        conversionReviewVersions: ["v1"],
        clientConfig: { service: { namespace: "a", name: "b" }, ...(caBundle && { caBundle }) },
      },
    });
    const spec = { ...manifest.spec, conversion: conversion(own) };
    const old = stored();
    const theirs = { ...(old.body as object), spec: { conversion: conversion("theirs") } };
    const found = { ...old, body: theirs };
    const { clock, client, requests } = world(found, found, established, established, list);
    await clock.run(() => ensureCrd(client, { ...manifest, spec }));
    const put = requests.find(({ method }) => method === "PUT");
    expect(JSON.parse(put?.body ?? "").spec).toEqual({ ...spec, conversion: conversion(kept) });
  });

  it("rejects with the error of a list that the server refuses", async () => {
    const { clock, client } = world(missing, stored(), established, failure(403, "Forbidden"));
    expect((await safeErrorOf(clock.run(() => ensureCrd(client, manifest)))).message).toContain(
      "Forbidden",
    );
  });

  it("does not wait for the conversion of a version, which its caller may do", async () => {
    const message = 'conversion webhook for example.org/v1, Kind=Greeting failed: Post "": refused';
    const unconverted: Answer = { status: 500, body: { kind: "Status", message, code: 500 } };
    const { clock, client, requests } = world(missing, stored(), established, unconverted, list);
    await clock.run(() => ensureCrd(client, manifest, { retries: 0 }));
    expect(requests.length).toBe(5);
  });

  it("waits while a definition that was deleted meanwhile is not there", async () => {
    const { clock, client } = world(missing, stored(), missing, stored(), established, list, list);
    await clock.run(() => ensureCrd(client, manifest));
    expect(clock.waiters()).toBe(0);
  });

  it("says that the names are taken, also where the server gives no reason", async () => {
    const refused = stored([{ type: "NamesAccepted", status: "False" }]);
    const { clock, client } = world(missing, refused, refused);
    expect((await safeErrorOf(clock.run(() => ensureCrd(client, manifest)))).message).toContain(
      "greetings.example.org are taken: ",
    );
  });

  it("creates the definition, waits until it is established, and until each version is served", async () => {
    const created = stored();
    const { clock, client, timeline, requests } = world(
      ...[
        missing,
        created,
        stored(),
        stored([{ type: "Established", status: "False" }]),
        established,
      ],
      ...[unknown, missing, list, unknown, list],
    );
    const definition = await clock.run(() => ensureCrd(client, manifest));
    expect(definition).toMatchObject({ metadata: { uid: "u" } });
    expect(timeline.events).toEqual([
      [0, `GET ${CRD}`],
      [0, "POST v1/customresourcedefinitions"],
      [0, `GET ${CRD}`],
      [100, `GET ${CRD}`],
      [200, `GET ${CRD}`],
      [200, "GET v1alpha1/greetings"],
      [300, "GET v1alpha1/greetings"],
      [400, "GET v1alpha1/greetings"],
      [400, "GET v1/greetings"],
      [500, "GET v1/greetings"],
    ]);
    expect(JSON.parse(requests[1]?.body ?? "")).toEqual(manifest);
    expect(clock.waiters()).toBe(0);
  });

  it("replaces the spec of an existing one, and keeps the labels of others", async () => {
    const others = { labels: { theirs: "2", mine: "0" }, finalizers: ["x"] };
    const old = stored([], { ...others });
    (old.body as { spec: unknown }).spec = { group: "example.org" };
    const { clock, client, requests } = world(old, old, established, established, list);
    await clock.run(() => ensureCrd(client, manifest));
    expect(requests[2]).toMatchObject({ method: "PUT" });
    expect(JSON.parse(requests[2]?.body ?? "")).toMatchObject({
      spec: manifest.spec,
      metadata: {
        resourceVersion: "7",
        finalizers: ["x"],
        labels: { theirs: "2", mine: "1" },
        annotations: { a: "1" },
      },
    });
  });

  it("replaces one that another replica has created meanwhile", async () => {
    const { clock, client, timeline } = world(
      ...[missing, failure(409, "AlreadyExists"), stored(), established, established, list],
    );
    await clock.run(() => ensureCrd(client, manifest));
    expect(timeline.events.map(([, event]) => event)).toEqual([
      `GET ${CRD}`,
      "POST v1/customresourcedefinitions",
      `GET ${CRD}`,
      `PUT ${CRD}`,
      `GET ${CRD}`,
      "GET v1alpha1/greetings",
      "GET v1/greetings",
    ]);
  });

  it.each([
    ["the first look", [unknown, stored(), stored(), stored(), established, list]],
    ["the creation", [missing, unknown, missing, stored(), established, list]],
    [
      "the read before a change",
      [stored(), unknown, stored(), stored(), established, established, list],
    ],
    ["the wait", [missing, stored(), unknown, established, list]],
  ])("continues after a plain 404 to %s", async (_name, steps) => {
    const { clock, client, timeline } = world(...steps);
    const definition = await clock.run(() => ensureCrd(client, manifest));
    expect(definition).toMatchObject({ metadata: { uid: "u" } });
    expect(timeline.elapsed()).toBe(100);
  });

  it("rejects at once when its names are taken", async () => {
    const refused = stored([
      { type: "NamesAccepted", status: "False", message: '"greetings" is already in use' },
    ]);
    const { clock, client, timeline } = world(missing, refused, refused);
    const error = await clock.run(() => safeErrorOf(ensureCrd(client, manifest)));
    expect(timeline.elapsed()).toBe(0);
    expect(error.message).toBe(
      'the names of CustomResourceDefinition greetings.example.org are taken: "greetings" is already in use',
    );
  });

  it.each([
    ["the definition is not established", [missing, stored(), stored()]],
    ["example.org/v1alpha1 is not served", [missing, stored(), established, unknown]],
    ["the definition is not written yet", ["silence" as const]],
  ])("rejects after its timeout, and reports that %s", async (why, steps) => {
    const { clock, client, timeline } = world(...steps);
    const error = await clock.run(() =>
      safeErrorOf(ensureCrd(client, manifest, { timeout: 5_000 })),
    );
    expect(timeline.elapsed()).toBe(5_000);
    expect(isTimeoutError(error)).toBe(true);
    expect(error.message).toBe(
      "CustomResourceDefinition greetings.example.org: timed out after 5000 ms",
    );
    expect(error.cause).toMatchObject({ message: why });
    expect(clock.waiters()).toBe(0);
  });

  it("rejects with the reason of an abort", async () => {
    const { clock, client } = world(missing, stored(), stored());
    const stop = new AbortController();
    const reason = new Error("stopped");
    clock.afterFunc(1_000, () => stop.abort(reason));
    expect(await clock.run(() => errorOf(ensureCrd(client, manifest, stop)))).toBe(reason);
    expect(clock.waiters()).toBe(0);
  });

  it("rejects with an error of the server", async () => {
    const { clock, client } = world(failure(403, "Forbidden"));
    const error = await clock.run(() => errorOf(ensureCrd(client, manifest)));
    expect(error).toMatchObject({ status: 403 });
  });

  it.each([
    [{ kind: "Deployment" }, "crd must be a CustomResourceDefinition"],
    [{ ...manifest, metadata: {} }, "metadata.name of manifest must be"],
    [{ ...manifest, spec: { ...manifest.spec, versions: [] } }, "it serves none"],
  ])("refuses an invalid manifest: %#", async (bad, message) => {
    const { client, requests } = world({});
    expect((await safeErrorOf(ensureCrd(client, bad))).message).toContain(message);
    expect(requests).toEqual([]);
  });
});
