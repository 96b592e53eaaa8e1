import { setTimeout as sleep } from "node:timers/promises";
import { atUrl, builtIn, ensureCrd, KubeClient, type KubeObject } from "@holdfast/kubernetes";
import { afterAll, beforeAll } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { isOwnServer, ownServerTest } from "../../../../test/cluster.ts";
import {
  FIRST,
  LAST,
  removeStoredVersion,
  removeVersion,
} from "../../../../test/removed-version.ts";

const Crd = builtIn<KubeObject>("apiextensions.k8s.io/v1", "CustomResourceDefinition");

let server: ApiServer;

beforeAll(async () => {
  if (isOwnServer) server = await ApiServer.start();
});

afterAll(async () => await server?.[Symbol.asyncDispose]());

for (const [name, walk] of [
  ["a version is removed as the guide on upgrading the CRD says", removeVersion],
  ["a version is removed while an object is stored in it", removeStoredVersion],
] as const)
  ownServerTest(name, async () => {
    const { url, ca, adminToken } = server;
    const client = new KubeClient({ transport: atUrl(url, { ca, token: () => adminToken }) });
    await ensureCrd(client, FIRST);
    await walk(client, async (crd, isTaken) => {
      if (crd === LAST)
        await client.patch(
          Crd,
          crd.metadata.name,
          { status: { storedVersions: ["v2"] } } as object,
          { subresource: "status" },
        );
      await ensureCrd(client, crd);
      // The version that is stored shows nowhere. A server takes a definition over within about a second.
      if (isTaken === undefined) await sleep(3_000);
      else while (!(await isTaken())) await sleep(100);
    });
  });
