import { FakeClock } from "@holdfast/clock/testing";
import { builtIn, type KubeObject, ownerReference } from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import { ExploredApi } from "../../src/explore/explored-api.ts";
import { GarbageCollector } from "../../src/explore/garbage-collector.ts";

const ConfigMap = builtIn<KubeObject>("v1", "ConfigMap");
const Deployment = builtIn<KubeObject>("apps/v1", "Deployment");

/** Runs a script on a server with a collector. @returns the keys of the objects that are left */
async function leftAfter(
  script: (
    create: (name: string, ...owners: object[]) => Promise<KubeObject>,
    api: ExploredApi,
    clock: FakeClock,
  ) => unknown,
): Promise<string[]> {
  const clock = new FakeClock();
  const resources = [ConfigMap, Deployment];
  const api = new ExploredApi({ clock, resources });
  new GarbageCollector({ api, clock, resources });
  return await clock.run(async () => {
    const create = (name: string, ...owners: object[]) => {
      const ownerReferences = owners as never[];
      const metadata = { namespace: "default", name, ownerReferences };
      return api.client.create(name.startsWith("d") ? Deployment : ConfigMap, { metadata });
    };
    await script(create, api, clock);
    await clock.sleep(10_000);
    expect(clock.waiters()).toBe(0);
    const names: string[] = [];
    for (const resource of resources)
      for await (const { metadata } of api.client.list(resource)) names.push(metadata.name);
    return names;
  });
}

const ownedBy = (owner: KubeObject) => ownerReference(ConfigMap, owner as never);

test("collects an object when its last owner is gone, and then what that owned", async () => {
  const left = await leftAfter(async (create, api) => {
    const [one, other] = [await create("one"), await create("other")];
    const deployment = await create("d", ownedBy(one), { ...ownedBy(other), controller: false });
    await create("child", ownerReference(Deployment, deployment as never));
    await api.client.delete(ConfigMap, "default/one");
  });
  expect(left).toEqual(["child", "other", "d"]);
  const all = await leftAfter(async (create, api) => {
    const deployment = await create("d", ownedBy(await create("one")));
    await create("child", ownerReference(Deployment, deployment as never));
    await api.client.delete(ConfigMap, "default/one");
  });
  expect(all).toEqual([]);
});

test("leaves objects without owners, with owners of unknown kinds, and those that are being deleted", async () => {
  const unknown = { apiVersion: "v1", kind: "Pod", name: "a", uid: "gone" };
  const left = await leftAfter(async (create, api) => {
    await create("free");
    await create("foreign", unknown);
    const one = await create("one");
    await create("stuck", ownedBy(one));
    const metadata = { finalizers: ["example.org/slow"] };
    await api.client.patch(ConfigMap, "default/stuck", { metadata });
    await api.client.delete(ConfigMap, "default/stuck");
    await api.client.delete(ConfigMap, "default/one");
  });
  expect(left).toEqual(["foreign", "free", "stuck"]);
});

test("collects after a write whose response is lost, or that another rule answers late", async () => {
  for (const fault of [{ type: "drop" }, { type: "delay", delay: 500 }] as const) {
    const left = await leftAfter(async (create, api, clock) => {
      const one = await create("one");
      await api.client.delete(ConfigMap, "default/one");
      await clock.sleep(5_000);
      api.intercept({ fault, times: 1 });
      await create("child", ownedBy(one)).catch(() => {});
    });
    expect([fault.type, left]).toEqual([fault.type, []]);
  }
});
