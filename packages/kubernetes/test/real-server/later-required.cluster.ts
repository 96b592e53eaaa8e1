import { setTimeout as sleep } from "node:timers/promises";
import { atUrl, ensureCrd, KubeClient } from "@holdfast/kubernetes";
import { afterAll, beforeAll } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { isOwnServer, ownServerTest } from "../../../../test/cluster.ts";
import { LOOSE, requireLater } from "../../../../test/later-required.ts";

let server: ApiServer;

beforeAll(async () => {
  if (isOwnServer) server = await ApiServer.start();
});

afterAll(async () => await server?.[Symbol.asyncDispose]());

ownServerTest(
  "a field of an old object is required at the root at each write, and below when its parent changes",
  async () => {
    const { url, ca, adminToken } = server;
    const client = new KubeClient({ transport: atUrl(url, { ca, token: () => adminToken }) });
    await ensureCrd(client, LOOSE);
    await requireLater(client, async (crd, isTaken) => {
      await ensureCrd(client, crd);
      while (!(await isTaken())) await sleep(100);
    });
  },
);
