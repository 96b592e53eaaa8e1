import { setTimeout as sleep } from "node:timers/promises";
import { atUrl, ensureCrd, KubeClient } from "@holdfast/kubernetes";
import { afterAll, beforeAll } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { isOwnServer, ownServerTest } from "../../../../test/cluster.ts";
import { migratedStorage, STORES_V1 } from "../../../../test/migrated-storage.ts";

let server: ApiServer;

beforeAll(async () => {
  if (isOwnServer) server = await ApiServer.start();
});

afterAll(async () => await server?.[Symbol.asyncDispose]());

ownServerTest(
  "migrateStorage moves objects, so that the first version can be removed",
  async () => {
    const { url, ca, adminToken } = server;
    const client = new KubeClient({ transport: atUrl(url, { ca, token: () => adminToken }) });
    await ensureCrd(client, STORES_V1.crd);
    await migratedStorage(client, async ({ crd }) => {
      await ensureCrd(client, crd);
      // The version that is stored shows nowhere. A server takes a definition over within about a second.
      await sleep(3_000);
    });
  },
);
