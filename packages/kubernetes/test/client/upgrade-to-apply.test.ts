import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import {
  builtIn,
  customResource,
  KubeClient,
  type KubeObject,
  type KubeTransport,
} from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { withApplies } from "../../src/client/apply-upgrade.ts";
import { UPGRADED, upgradeScript } from "./upgrade-script.ts";

interface GreetingObject extends KubeObject {
  spec?: { text?: string };
  status?: { count?: number; seen?: boolean };
}
const ConfigMap = builtIn<KubeObject & { data?: object }>("v1", "ConfigMap");
const Greeting = customResource<GreetingObject>({
  apiVersion: "example.org/v1",
  kind: "Greeting",
  plural: "greetings",
});
const metadata = { namespace: "default", name: "ann" };

function world() {
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [ConfigMap, Greeting] });
  return { clock, api, client: new KubeClient({ transport: api.transport, clock }) };
}

describe("upgradeToApply", () => {
  it("makes the updates of a manager its applies, which a later apply withdraws", async () => {
    const { api, clock } = world();
    expect(await upgradeScript({ transport: api.transport, clock }, "default")).toEqual(UPGRADED);
  });

  it("makes updates of the status applies of the status", async () => {
    const { client } = world();
    await client.create(Greeting, { metadata, spec: { text: "hello" } });
    await client.patch(
      Greeting,
      metadata,
      { status: { count: 1, seen: true } },
      { subresource: "status" },
    );
    await client.upgradeToApply(Greeting, metadata);
    const applied = { metadata, status: { count: 1 } };
    const { spec, status } = await client.apply(Greeting, applied, { subresource: "status" });
    expect([spec, status]).toEqual([{ text: "hello" }, { count: 1 }]);
  });

  it("reads again when the object has changed meanwhile", async () => {
    const { api, clock } = world();
    await api.client.create(ConfigMap, { metadata, data: { a: "1" } }, { fieldManager: "me" });
    let isFirst = true;
    const send: KubeTransport["send"] = async (request, signal) => {
      if (request.method === "PATCH" && isFirst) {
        isFirst = false;
        await api.client.patch(
          ConfigMap,
          metadata,
          { data: { b: "2" } },
          { fieldManager: "other" },
        );
      }
      return await api.transport.send(request, signal);
    };
    const transport = { ...api.transport, description: "raced", send };
    const client = new KubeClient({ transport, clock, fieldManager: "me" });
    const upgraded = await clock.run(() => client.upgradeToApply(ConfigMap, metadata));
    expect(upgraded.metadata.managedFields).toMatchObject([
      { manager: "other", operation: "Update" },
      { manager: "me", operation: "Apply" },
    ]);
    const requests = api.requests.map(({ verb, status }) => `${verb} ${status}`);
    expect(requests).toEqual([
      ...["create 201", "get 200", "patch 200", "patch 409", "get 200", "patch 200"],
    ]);
  });

  it("rejects with NotFound for an object that is not there", async () => {
    const { client } = world();
    await expect(client.upgradeToApply(ConfigMap, metadata)).rejects.toMatchObject({
      status: 404,
    });
  });
});

it("entries of several versions become one apply, since a server knows one of a manager", () => {
  const update = { manager: "me", operation: "Update", apiVersion: "b/v1" };
  const entries = [
    { ...update, fieldsV1: { "f:a": {} } },
    { ...update, apiVersion: "b/v2", fieldsV1: { "f:b": { ".": {} } } },
    { ...update, subresource: "status", fieldsV1: { "f:status": {} } },
    { ...update, manager: "other", fieldsV1: { "f:c": {} } },
  ];
  const apply = { manager: "me", operation: "Apply", apiVersion: "b/v1" };
  expect(withApplies(entries, { from: ["me"], manager: "me" })).toEqual([
    { ...update, manager: "other", fieldsV1: { "f:c": {} } },
    { ...apply, fieldsV1: { "f:a": {}, "f:b": { ".": {} } } },
    { ...apply, subresource: "status", fieldsV1: { "f:status": {} } },
  ]);
});
