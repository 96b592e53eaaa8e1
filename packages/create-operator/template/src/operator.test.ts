import { readFileSync } from "node:fs";
import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { explore, FakeApi } from "@holdfast/fake-apiserver";
import { builtIn, runOperator } from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { ConfigMap, operator } from "./operator.ts";
import { __RESOURCE__ } from "./resource.ts";

const Lease = builtIn("coordination.k8s.io/v1", "Lease");
const roles = parseAllDocuments(readFileSync("deploy/role.yaml", "utf8")).map((role) =>
  role.toJS(),
);
const one = { namespace: "default", name: "one" };
const child = { namespace: "default", name: "__SINGULAR__-one" };

test("keeps the ConfigMap with the rights of deploy/role.yaml", async () => {
  const clock = new FakeClock();
  // `npm run role` records the rights: everything is allowed then.
  const rules = process.env["HOLDFAST_RULES"] ? undefined : roles;
  const api = new FakeApi({ clock, resources: [__RESOURCE__, ConfigMap, Lease], rules });
  const stop = new AbortController();
  await clock.run(async () => {
    const running = runOperator(
      {
        name: "__NAME__",
        transport: api.transport,
        setup: operator,
        leaderElection: { namespace: "__NAME__" },
        health: false,
        clock,
        logger: silentLogger,
      },
      stop.signal,
    );
    const text = async () => (await api.client.find(ConfigMap, child))?.data?.["text"];
    await api.client.create(__RESOURCE__, { metadata: one, spec: { text: "a" } });
    await clock.sleep(10_000);
    expect(api.rulesMissing(), "rights missing in deploy/role.yaml, see npm run role").toEqual([]);
    expect(await text()).toBe("a");
    expect((await api.client.get(__RESOURCE__, one)).status).toEqual({ configMap: child.name });

    await api.client.delete(ConfigMap, child);
    await clock.sleep(1_000);
    expect(await text()).toBe("a");

    stop.abort();
    await running;
  });
  expect(clock.waiters()).toBe(0);
});

test("leaves a ConfigMap of somebody else alone, and says so", async () => {
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [__RESOURCE__, ConfigMap] });
  const stop = new AbortController();
  await clock.run(async () => {
    await api.client.create(ConfigMap, { metadata: child, data: { text: "theirs" } });
    await api.client.create(__RESOURCE__, { metadata: one, spec: { text: "a" } });
    const options = { name: "__NAME__", transport: api.transport, setup: operator, clock };
    const running = runOperator(
      { ...options, leaderElection: false, health: false, logger: silentLogger },
      stop.signal,
    );
    await clock.sleep(1_000);
    const conditions = async () =>
      (await api.client.get(__RESOURCE__, one)).status?.conditions?.map(({ type }) => type);
    expect(await conditions()).toEqual(["NameTaken"]);
    const map = await api.client.get(ConfigMap, child);
    expect(map.data).toEqual({ text: "theirs" });
    expect(map.metadata.ownerReferences).toBeUndefined();

    await api.client.delete(ConfigMap, child);
    await clock.sleep(60_000);
    expect((await api.client.get(ConfigMap, child)).data).toEqual({ text: "a" });
    expect(await conditions()).toBeUndefined();

    stop.abort();
    await running;
  });
});

// Milliseconds for an exploration. It takes seconds, and more with each write of the operator.
const timeout = 300_000;

test("survives a crash before and after each write", { timeout }, async ({ signal }) => {
  const { notRun } = await explore({
    signal,
    setup: operator,
    resources: [__RESOURCE__, ConfigMap],
    async scenario({ client, clock }) {
      await client.create(__RESOURCE__, { metadata: one, spec: { text: "a" } });
      await clock.sleep(1_000);
      await client.patch(__RESOURCE__, one, { spec: { text: "b" } });
    },
  });
  expect(notRun).toEqual({});
});

// From the second release on: the way from the last release to this one, and back. Install the last one under another name,
// "__NAME__-last": "npm:__NAME__@1", and see the guide "Proving an upgrade".
//
// test("takes over the objects of the last release", { timeout }, async ({ signal }) => {
//   const last = await import("__NAME__-last");
//   await explore({
//     signal,
//     setup: operator,
//     upgradeFrom: last.operator,
//     resources: [__RESOURCE__, ConfigMap],
//     resourcesFrom: [last.__RESOURCE__, ConfigMap],
//     async scenario({ client, clock }) {
//       await client.create(__RESOURCE__, { metadata: one, spec: { text: "a" } });
//       await clock.sleep(1_000);
//       await client.patch(__RESOURCE__, one, { spec: { text: "b" } });
//     },
//   });
// });
