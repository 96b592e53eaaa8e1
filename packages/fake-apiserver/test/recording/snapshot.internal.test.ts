import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { constants, gunzipSync, gzipSync } from "node:zlib";
import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { openRecording, Recording } from "@holdfast/controller/recording";
import { FakeApi } from "@holdfast/fake-apiserver";
import {
  builtIn,
  type KubeObject,
  type OperatorSetup,
  ownerReference,
  runOperator,
} from "@holdfast/kubernetes";
import { seededRandom } from "@holdfast/wait/strategies";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { Incident } from "../../src/recording/incident.ts";

type Map = KubeObject & { data?: { [name: string]: string } };
const ConfigMap = builtIn<Map>("v1", "ConfigMap");
const Deployment = builtIn<KubeObject & { spec?: object }>("apps/v1", "Deployment");
const ServiceAccount = builtIn("v1", "ServiceAccount");
const Lease = builtIn("coordination.k8s.io/v1", "Lease");
const resources = [ConfigMap, Deployment, ServiceAccount, Lease];
const FINALIZER = "example.org/held";
const ROUNDS = 40;

/** Sees and makes objects in every way: by watches, one with a selector, by reads, writes, finalizers and deletions. */
const gardener: OperatorSetup = ({ cluster, client, controller }) => {
  const maps = cluster.watch(ConfigMap, { labels: { kept: "yes" } });
  const deployments = cluster.watch(Deployment);
  return () => [
    controller({
      name: "gardener",
      sources: [maps.source(), deployments.source({ to: ({ key }) => [key] })],
      async reconcile({ key, signal }) {
        const map = maps.get(key);
        if (map === undefined) return;
        const { namespace, name, finalizers = [], deletionTimestamp } = map.metadata;
        const account = await client.find(ServiceAccount, key, { signal });
        const finalize = (names: string[]): Promise<unknown> =>
          client.patch(ConfigMap, key, { metadata: { finalizers: names } }, { signal });
        if (deletionTimestamp !== undefined) {
          if (account !== undefined) await client.delete(ServiceAccount, key, { signal });
          await finalize([]);
          return;
        }
        if (!finalizers.includes(FINALIZER)) await finalize([FINALIZER]);
        const metadata = { namespace, name, ownerReferences: [ownerReference(ConfigMap, map)] };
        if (account === undefined) await client.create(ServiceAccount, { metadata }, { signal });
        await client.apply(
          Deployment,
          { metadata, spec: { image: map.data?.["text"] } },
          { signal },
        );
      },
    }),
  ];
};

/** Records the operator under faults, while its users and a restart of the server keep it busy. */
async function record(seed: number): Promise<Recording> {
  const directory = tempFolder(onTestFinished);
  const random = seededRandom(seed);
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources });
  const user = api.client;
  for (const fault of [{ type: "drop" }, { type: "reset", after: { lines: 2 } }] as const)
    api.intercept({ fault, when: ({ headers }) => "x-operator" in headers && random() < 0.05 });
  api.intercept({
    fault: { type: "status", status: 503 },
    when: ({ headers }) => "x-operator" in headers && random() < 0.05,
  });
  const { description } = api.transport;
  const send: typeof api.transport.send = (request, signal) => {
    const headers = { ...request.headers, "x-operator": "1" };
    return api.transport.send({ ...request, headers }, signal);
  };
  /** Time of the world, in which the disk and the worker take real time. */
  const pass = async (duration: number): Promise<void> => {
    await clock.sleep(duration);
    await clock.external(realClock.sleep(5));
  };
  const play = async (round: number): Promise<void> => {
    const at = { namespace: "default", name: `map-${Math.floor(random() * 4)}` };
    const data = { text: `${round}` };
    const labels = { kept: random() < 0.8 ? "yes" : "no" };
    if ((await user.find(ConfigMap, at)) === undefined)
      await user.create(ConfigMap, { metadata: { ...at, labels }, data });
    else if (random() < 0.3) await user.delete(ConfigMap, at);
    else if (random() < 0.2) await user.delete(Deployment, at).catch(() => {});
    else await user.patch(ConfigMap, at, { metadata: { labels }, data });
  };
  await clock.run(async () => {
    const stop = new AbortController();
    const running = runOperator(
      {
        ...{
          name: "gardener",
          transport: { description, send },
          setup: gardener,
          clock,
          random,
          logger: silentLogger,
        },
        ...{ health: false, leaderElection: { namespace: "default" } },
        recording: { directory, segmentBytes: 4_000 },
      },
      stop.signal,
    );
    let failure: unknown;
    running.catch((error: unknown) => {
      failure = error;
    });
    const count = async (): Promise<number> =>
      (await openRecording(directory).catch(() => undefined))?.files.filter(numberIn).length ?? 0;
    for (let round = 0; round < ROUNDS || (await count()) < 3; round++) {
      if (failure !== undefined) throw failure;
      await play(round);
      await pass(5_000);
      if (round !== ROUNDS / 2) continue;
      api.stop();
      await pass(30_000);
      await api.start({ history: seed % 2 === 0 ? "lost" : "kept" });
    }
    stop.abort();
    await running;
  });
  return await openRecording(directory);
}

/** The number of the segment that begins with the snapshot of a file. */
function numberIn(file: string): number | undefined {
  const options = { finishFlush: constants.Z_SYNC_FLUSH };
  const text = gunzipSync(readFileSync(file), options).toString();
  const [, segment] = /^\{"k":"o","segment":(\d+)/m.exec(text) ?? [];
  return segment === undefined ? undefined : Number(segment);
}

/** The objects that a recording tells, by store and key: at its begin or at its end. */
function worldOf(recording: Recording, at: 0 | -1): unknown {
  const places = [...new Incident(recording, resources).history.places];
  return Object.fromEntries(
    places.flatMap(({ store, key, versions, isOld }) => {
      const object = at === 0 && !isOld ? undefined : versions.at(at)?.object;
      return object === undefined || store.endsWith("/events") ? [] : [[`${store} ${key}`, object]];
    }),
  );
}

/** A recording that ends with its snapshot. */
function snapshotOf(recording: Recording): Recording {
  const lines = [...(recording.known() ?? [])];
  const known = lines.slice(0, lines.findIndex(({ k }) => k === "o") + 1);
  const body = known.map((line) => JSON.stringify(line)).join("\n");
  const { segment } = recording.head;
  const start = { k: "o", segment, len: Buffer.byteLength(body) };
  const file = join(tempFolder(onTestFinished), "gardener-000002.flight.gz");
  const text = [recording.head, start].map((line) => JSON.stringify(line)).join("\n");
  writeFileSync(file, gzipSync(`${text}\n${body}\n`));
  return new Recording([file]);
}

describe("each snapshot of a recording under faults", () => {
  it.for([0, 1, 2])("tells the world that the segments before it tell, seed + %d", async (more) => {
    const { files } = await record(inject("seed") + more);
    const numbers = files.flatMap((file) => numberIn(file) ?? []);
    expect(numbers.length).toBeGreaterThan(2);
    for (const number of numbers) {
      const before = worldOf(new Recording(files.slice(0, number - 1)), -1);
      const begin = worldOf(snapshotOf(new Recording(files.slice(number - 1))), 0);
      expect(begin, `segment ${number}`).toEqual(before);
      expect(Object.keys(before as object)).not.toEqual([]);
    }
  });
});
