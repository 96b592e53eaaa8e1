import { readFileSync, rmSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { openRecording, type Recording } from "@holdfast/controller/recording";
import { FakeApi, replay, shadow } from "@holdfast/fake-apiserver";
import { yieldTurn } from "@holdfast/kit";
import { builtIn, type KubeObject, type OperatorSetup, runOperator } from "@holdfast/kubernetes";
import { expect, it, onTestFinished } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";

type Map = KubeObject & { data?: { [name: string]: string } };
const ConfigMap = builtIn<Map>("v1", "ConfigMap");
const at = (name: string) => ({ namespace: "default", name });

/** Copies the count of each ConfigMap to its text. */
const marker =
  (text: (count: string | undefined, name: string) => string): OperatorSetup =>
  ({ cluster, client, controller }) => {
    const maps = cluster.watch(ConfigMap);
    return () => [
      controller({
        name: "marker",
        sources: [maps.source()],
        async reconcile({ key, signal }) {
          const map = maps.get(key);
          if (map === undefined) return;
          const wanted = text(map.data?.["count"], map.metadata.name);
          if (map.data?.["text"] === wanted) return;
          await client.patch(ConfigMap, key, { data: { text: wanted } }, { signal });
        },
      }),
    ];
  };

const copier = marker((count) => `${count}`);

const hasSnapshot = (file: string): boolean =>
  gunzipSync(readFileSync(file), { finishFlush: 2 }).includes('{"k":"o"');

/** Records an operator until its recording has a number of snapshots, and deletes what comes before the last but one. */
async function record(
  setup: OperatorSetup,
  play: (api: FakeApi, round: number) => Promise<void>,
): Promise<Recording> {
  const directory = tempFolder(onTestFinished);
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [ConfigMap] });
  await clock.run(async () => {
    const stop = new AbortController();
    const running = runOperator(
      {
        ...{ name: "marker", transport: api.transport, setup, clock, logger: silentLogger },
        ...{ health: false, leaderElection: false },
        recording: { directory, segmentBytes: 2_000 },
      },
      stop.signal,
    );
    const snapshots = async (): Promise<number> => {
      const files = await openRecording(directory).then(
        (one) => one.files,
        () => [],
      );
      return files.filter(hasSnapshot).length;
    };
    for (let round = 0; (await snapshots()) < 3; round++) {
      await play(api, round);
      await clock.sleep(5_000);
      await clock.external(yieldTurn(realClock)); // the disk and the worker take real time
    }
    for (let round = 0; round < 3; round++) {
      await play(api, 1_000 + round);
      await clock.sleep(5_000);
    }
    stop.abort();
    await running;
  });
  const { files } = await openRecording(directory);
  const kept = files.filter(hasSnapshot).at(-2) as string;
  for (const file of files.slice(0, files.indexOf(kept))) rmSync(file);
  return await openRecording(directory);
}

const nothing = { news: [], lost: [], orphans: [], loop: undefined };

const counting = async ({ client }: FakeApi, round: number): Promise<void> => {
  if (round === 0) {
    for (const name of ["ann", "bob", "eve"])
      await client.create(ConfigMap, { metadata: at(name), data: { count: "0" } });
    return;
  }
  if (round === 1) await client.delete(ConfigMap, at("eve"));
  await client.patch(ConfigMap, at("ann"), { data: { count: `${round}` } });
};

it("begins at a snapshot if the first segment is gone", async () => {
  const recording = await record(copier, counting);
  expect(recording.head.segment).toBeGreaterThan(1);
  const same = await shadow(recording, { upgradeFrom: copier, setup: copier });
  expect(same).toEqual(nothing);
  const setup = marker((count) => (count === "1001" ? "1001!" : `${count}`));
  const { news, lost } = await shadow(recording, { upgradeFrom: copier, setup });
  expect([...news, ...lost].map(({ request, body }) => [request, body])).toEqual([
    ["patch configmaps default/ann", { data: { text: "1001!" } }],
    ["patch configmaps default/ann", { data: { text: "1001" } }],
  ]);
  await expect(replay(recording, { setup: copier })).rejects.toThrow("or use shadow");
});

it("has the objects of the snapshot, and none that was deleted before", async () => {
  const recording = await record(copier, counting);
  const { news } = await shadow(recording, {
    upgradeFrom: copier,
    setup: marker((_, name) => name),
  });
  expect(new Set(news.map(({ request }) => request))).toEqual(
    new Set(["patch configmaps default/ann", "patch configmaps default/bob"]),
  );
});
