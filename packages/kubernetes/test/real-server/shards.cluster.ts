import { atUrl, builtIn, KubeClient, type KubeObject } from "@holdfast/kubernetes";
import { poll } from "@holdfast/wait";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { isOwnServer, ownServerTest } from "../../../../test/cluster.ts";
import { Candidate } from "./candidate.ts";

const NAMESPACE = "default";
const COUNT = 8;
const OBJECTS = 60;
const NAMESPACES = 6;
const PATIENCE = { timeout: 240_000, backoff: { duration: 200 } };

interface MapObject extends KubeObject {
  data?: { wanted?: string; seen?: string; by?: string; tokens?: string };
}
interface LeaseObject extends KubeObject {
  spec?: { holderIdentity?: string };
}
const ConfigMap = builtIn<MapObject>("v1", "ConfigMap");
const Namespace = builtIn("v1", "Namespace");
const Lease = builtIn<LeaseObject>("coordination.k8s.io/v1", "Lease");
const refs = Array.from({ length: OBJECTS }, (_, index) => {
  return { namespace: `team-${index % NAMESPACES}`, name: `map-${index}` };
});

let server: ApiServer;
let client: KubeClient;
const started: Candidate[] = [];

beforeAll(async () => {
  if (!isOwnServer) return;
  server = await ApiServer.start();
  client = new KubeClient({
    transport: atUrl(server.url, { ca: server.ca, token: () => server.adminToken }),
  });
});

afterAll(async () => {
  for (const candidate of started) await candidate[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

function start(): Candidate {
  const program = "sharded-candidate.mjs";
  const candidate = new Candidate(`candidate-${started.length}`, NAMESPACE, server, {
    program,
    args: [`${COUNT}`],
  });
  started.push(candidate);
  return candidate;
}

/** Waits until the Leases of all slots have holders, with so many each. */
async function shares(of: readonly Candidate[], expected: readonly number[]): Promise<void> {
  await poll(async () => {
    const held = new Map(of.map(({ identity }) => [identity, 0]));
    for await (const { metadata, spec } of client.list(Lease, { namespace: NAMESPACE }))
      if (metadata.name.startsWith("candidate-slot-") && spec?.holderIdentity)
        held.set(spec.holderIdentity, (held.get(spec.holderIdentity) ?? 0) + 1);
    return `${[...held.values()].sort((a, b) => b - a)}` === `${expected}`;
  }, PATIENCE);
}

async function all(): Promise<readonly NonNullable<MapObject["data"]>[]> {
  const labels = { app: "sharded" };
  const found = [];
  for await (const { data } of client.list(ConfigMap, { labels })) found.push(data ?? {});
  return found;
}

/** Changes all objects, and waits until every change has been worked on. Resolves with who did. */
async function change(wanted: string): Promise<readonly string[]> {
  for (const ref of refs) await client.patch(ConfigMap, ref, { data: { wanted } });
  await poll(async () => (await all()).every(({ seen }) => seen === wanted), PATIENCE);
  return [...new Set((await all()).map(({ by = "" }) => by))].sort();
}

describe("of processes with slots in Leases on a real server", () => {
  ownServerTest(
    "all work, one at a time on a key, through a kill, a process that stands still, a stop and joins",
    async () => {
      for (let team = 0; team < NAMESPACES; team++)
        await client.create(Namespace, { metadata: { name: `team-${team}` } });
      for (const ref of refs) {
        const metadata = { ...ref, labels: { app: "sharded" } };
        await client.create(ConfigMap, { metadata, data: { wanted: "0" } });
      }
      const [a, b, c] = [start(), start(), start()];
      const workers = (of: readonly Candidate[]) => of.map(({ identity }) => identity).sort();
      await shares([a, b, c], [3, 3, 2]);
      expect(await change("three")).toEqual(workers([a, b, c]));

      await a.kill();
      expect(workers([b, c])).toEqual(expect.arrayContaining([...(await change("killed"))]));
      await shares([b, c], [4, 4]);

      b.freeze();
      await change("frozen");
      await shares([c], [COUNT]);
      expect(await change("one")).toEqual(workers([c]));
      b.thaw();
      await shares([b, c], [4, 4]);

      const [d, e] = [start(), start()];
      await shares([b, c, d, e], [2, 2, 2, 2]);
      expect(await change("four")).toEqual(workers([b, c, d, e]));
      expect(await b.stop()).toBe(0);
      expect(await d.stop()).toBe(0);
      await shares([c, e], [4, 4]);
      await change("two");

      for (const { tokens = "" } of await all()) {
        const written = tokens.split(" ").map(Number);
        expect(written.length).toBeGreaterThanOrEqual(5);
        // No holder of the past has written after its successor.
        expect(written).toEqual(written.toSorted((one, other) => one - other));
      }
      expect(await Promise.all([c.stop(), e.stop()])).toEqual([0, 0]);
    },
  );
});
