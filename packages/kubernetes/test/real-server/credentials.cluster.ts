import { silentLogger } from "@holdfast/controller";
import {
  atUrl,
  Cluster,
  ensureCrd,
  finalize,
  fromKubectl,
  type Impersonation,
  isApiError,
  KubeClient,
} from "@holdfast/kubernetes";
import { afterAll, beforeAll, describe, expect, vi } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { isOwnServer, ownServerTest } from "../../../../test/cluster.ts";
import { Bucket, crdOf, GROUP, SIZE } from "./bucket.ts";

const namespace = "credentials";
let server: ApiServer;
let client: KubeClient;

const clientWith = (token: string): KubeClient =>
  new KubeClient({
    transport: atUrl(server.url, { ca: server.ca, token: () => token }),
    logger: silentLogger,
  });

beforeAll(async () => {
  if (!isOwnServer) return;
  server = await ApiServer.start();
  client = clientWith(server.adminToken);
  await ensureCrd(client, crdOf("Bucket", SIZE));
});

afterAll(async () => await server?.[Symbol.asyncDispose]());

describe("credentials on our own API server", () => {
  ownServerTest(
    "fromKubectl takes address, CA, token and namespace, and a rotated token",
    async () => {
      vi.stubEnv("KUBECONFIG", server.kubeconfig);
      try {
        const transport = fromKubectl({ kubectl: server.kubectlPath, logger: silentLogger });
        expect(transport.namespace).toBe("default");
        const own = new KubeClient({ transport });
        const ref = { namespace, name: "by-kubectl" };
        await own.create(Bucket, { metadata: ref });
        server.rotateToken();
        expect(await own.find(Bucket, ref)).toMatchObject({ metadata: ref });
        client = clientWith(server.adminToken);
      } finally {
        vi.unstubAllEnvs();
      }
    },
  );

  ownServerTest(
    "a user who may only read has informers, and a Forbidden for each write",
    async () => {
      const reader = clientWith(server.viewToken);
      const ref = { namespace, name: "forbidden" };
      const bucket = await client.create(Bucket, { metadata: ref });
      const writes = [
        () => reader.create(Bucket, { metadata: { namespace, name: "other" } }),
        () => reader.update(Bucket, bucket),
        () => reader.patch(Bucket, ref, { spec: { size: 2 } }),
        () => reader.apply(Bucket, { metadata: ref, spec: { size: 2 } }),
        () => reader.delete(Bucket, ref),
        () => ensureCrd(reader, crdOf("Honeydew", SIZE)),
        () =>
          finalize(reader, Bucket, bucket, {
            finalizer: `${GROUP}/one`,
            apply: () => undefined,
            cleanup: () => undefined,
          }),
      ];
      for (const write of writes) {
        const error: unknown = await write().then(String, (reason: unknown) => reason);
        expect(isApiError(error, "Forbidden"), String(error)).toBe(true);
        expect(error).toMatchObject({ status: 403 });
        expect(String(error)).toContain("the group view may only read");
        expect(JSON.stringify(error) + String(error)).not.toContain(server.viewToken);
      }
      const transport = atUrl(server.url, { ca: server.ca, token: () => server.viewToken });
      const cluster = new Cluster({ transport, logger: silentLogger });
      const buckets = cluster.watch(Bucket);
      const stop = new AbortController();
      const running = cluster.run(stop.signal);
      await cluster.ready(stop.signal);
      expect(buckets.get(ref)?.metadata.uid).toBe(bucket.metadata.uid);
      stop.abort();
      await running;
    },
  );

  ownServerTest(
    "an impersonated user has that user's rights, if one may impersonate it",
    async () => {
      const as = (token: string, impersonate: Impersonation): KubeClient =>
        new KubeClient({
          transport: atUrl(server.url, { ca: server.ca, token: () => token, impersonate }),
          logger: silentLogger,
        });
      const ref = { namespace, name: "by-another" };
      const ann = { user: "ann", uid: "7", extra: { "example.org/scope": ["a", "b"] } };
      await as(server.adminToken, ann).create(Bucket, { metadata: ref });
      const viewer = as(server.adminToken, { ...ann, groups: ["a", "view"] });
      expect(await viewer.find(Bucket, ref)).toMatchObject({ metadata: ref });
      for (const refused of [viewer, as(server.viewToken, ann)]) {
        const error: unknown = await refused
          .delete(Bucket, ref)
          .then(String, (reason: unknown) => reason);
        expect(isApiError(error, "Forbidden"), String(error)).toBe(true);
        expect(String(error)).not.toContain(server.viewToken);
      }
    },
  );
});
