import { FakeClock } from "@holdfast/clock/testing";
import { fromCrd, type KubeObject } from "@holdfast/kubernetes";
import { it } from "vitest";
import { Crd, migratedStorage, STORES_V1 } from "../../../../test/migrated-storage.ts";
import { ExploredApi } from "../../src/explore/explored-api.ts";

it("moves objects to another stored version as a server does, and removes the first one", async () => {
  const api = new ExploredApi({
    clock: new FakeClock(),
    resources: [STORES_V1.v1, STORES_V1.v2, Crd],
  });
  const { client } = api;
  const named = STORES_V1.crd as KubeObject & { spec: object };
  await client.create(Crd, named as never);
  const name = "mirrors.holdfast.example.org";
  const stored = { status: { storedVersions: ["v1"] } };
  await client.patch(Crd, name, stored, { subresource: "status" });
  await migratedStorage(client, async ({ crd }) => {
    const { spec } = crd as {
      spec: { versions: { name: string; served: boolean; storage: boolean }[] };
    };
    api.serve([
      ...spec.versions.filter((one) => one.served).map((one) => fromCrd(crd, one.name)),
      Crd,
    ]);
    await client.modify(Crd, name, (object) => void Object.assign(object.spec, spec));
    const before = (await client.get(Crd, name)).status?.storedVersions ?? [];
    const storage = spec.versions.find((one) => one.storage)?.name as string;
    const storedVersions = [...new Set([...before, storage])];
    await client.patch(Crd, name, { status: { storedVersions } }, { subresource: "status" });
  });
});
