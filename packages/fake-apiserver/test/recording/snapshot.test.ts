import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { type Line, openRecording, Recording } from "@holdfast/controller/recording";
import { FakeApi, replay, shadow } from "@holdfast/fake-apiserver";
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

const numberOf = (file: string): number => Number(/(\d+)\.flight\.gz$/.exec(file)?.[1]);

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
      await clock.external(realClock.sleep(5)); // the disk and the worker take real time
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

const nothing = { news: [], lost: [], orphans: [], loop: undefined, foreign: [] };

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
  const begun = new Set<number>();
  const timed: OperatorSetup = (context) => {
    begun.add(context.clock.now());
    return copier(context);
  };
  const same = await shadow(recording, { upgradeFrom: copier, setup: timed });
  expect(same).toEqual(nothing);
  const last = [...(recording.known() ?? [])].find(({ k }) => k === "o");
  expect([...begun]).toEqual([recording.head.wall + (last?.t ?? 0)]);
  expect(last?.t).toBeGreaterThan(recording.head.mono);
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

it("has a snapshot whole or not at all where a process was killed at any byte of its file", async () => {
  const { files } = await record(copier, counting);
  const last = files.findLast(hasSnapshot) as string;
  const [, segment] = /"k":"o","segment":(\d+)/.exec(`${gunzipSync(readFileSync(last))}`) ?? [];
  const rest = files
    .slice(0, files.indexOf(last) + 1)
    .filter((file) => numberOf(file) >= Number(segment));
  const whole = readFileSync(last);
  const snapshotIn = (of: readonly string[]): readonly Line[] | undefined => {
    const lines = [...(new Recording(of).known() ?? [])];
    const end = lines.findIndex(({ k }) => k === "o");
    return end < 0 ? undefined : lines.slice(0, end + 1);
  };
  const wanted = snapshotIn(rest);
  expect(wanted).toBeDefined();
  let kept = 0;
  for (let cut = whole.length; cut > 0; cut -= 7) {
    writeFileSync(last, whole.subarray(0, cut));
    if (rest.length === 1 && cut < 1_000) continue; // it has no head
    const found = snapshotIn(rest);
    if (found !== undefined) expect(found).toEqual(wanted);
    kept += found === undefined ? 0 : 1;
  }
  expect(kept).toBeGreaterThan(0);
  expect(kept).toBeLessThan(whole.length / 7);
});
