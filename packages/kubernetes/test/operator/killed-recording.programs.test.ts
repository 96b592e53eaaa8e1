import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { constants, gunzipSync } from "node:zlib";
import { realClock } from "@holdfast/clock";
import { type Line, openRecording } from "@holdfast/controller/recording";
import { FakeApi, replay, shadow } from "@holdfast/fake-apiserver";
import { builtIn, type KubeObject } from "@holdfast/kubernetes";
import { expect, it, onTestFinished } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { runBin } from "../bin/run-bin.ts";
import { setup } from "./recorded-marker.mjs";

const ConfigMap = builtIn<KubeObject & { data?: { [name: string]: string } }>("v1", "ConfigMap");
const Lease = builtIn("coordination.k8s.io/v1", "Lease");
const main = fileURLToPath(new URL("run-recorded-marker.mjs", import.meta.url));

const isPatchOf =
  (name: string) =>
  ({ k, m, u }: Line): boolean =>
    k === "q" && m === "PATCH" && `${u}`.includes(`/configmaps/${name}?`);

it("keeps of a process that is killed what was written, which opens and replays", async () => {
  const directory = tempFolder(onTestFinished);
  const api = new FakeApi({ clock: realClock, resources: [ConfigMap, Lease] });
  await using listener = await api.listen();
  const child = spawn(process.execPath, [main, listener.url, directory], { stdio: "inherit" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit");
  const mark = async (name: string): Promise<void> => {
    const metadata = { namespace: "default", name };
    await api.client.create(ConfigMap, { metadata });
    const text = async () => (await api.client.get(ConfigMap, metadata)).data?.["text"];
    await expect.poll(text).toBe("seen");
  };
  const lines = async (): Promise<Line[]> =>
    readdirSync(directory).length === 0 ? [] : [...(await openRecording(directory)).lines()];
  for (const name of ["ann", "bob", "cid"]) {
    await mark(name);
    await expect.poll(async () => (await lines()).some(isPatchOf(name))).toBe(true);
  }
  for (const name of ["dan", "eve"]) await mark(name);
  child.kill("SIGKILL");
  expect(await exited).toEqual([null, "SIGKILL"]);

  const recording = await openRecording(directory);
  const kept = await lines();
  for (const name of ["ann", "bob", "cid"]) expect(kept.some(isPatchOf(name))).toBe(true);
  expect(kept.map(({ k }) => k)).not.toContain("end");
  const report = await replay(recording, { setup });
  expect(report.divergence?.text).toBeUndefined();
  expect(report.requests).toBe(kept.filter(({ k }) => k === "q" || k === "l").length);
  const checked = await runBin(["recording", "check", directory], directory);
  expect(checked).toMatchObject({ code: 0, stderr: "" });
  expect(checked.stdout).toContain("the process was killed, or still runs\ncan be replayed\n");
});

it("keeps the snapshot before of a process that is killed while the next one is folded", async () => {
  const directory = tempFolder(onTestFinished);
  const api = new FakeApi({ clock: realClock, resources: [ConfigMap, Lease] });
  await using listener = await api.listen();
  const child = spawn(process.execPath, [main, listener.url, directory, "2000"], {
    stdio: "inherit",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit");
  const files = (): string[] =>
    readdirSync(directory)
      .toSorted()
      .map((name) => join(directory, name));
  const options = { finishFlush: constants.Z_SYNC_FLUSH };
  const withSnapshot = (): string[] =>
    files().filter((file) => gunzipSync(readFileSync(file), options).includes('{"k":"o"'));
  let round = 0;
  const writeUntil = async (isOver: () => boolean): Promise<void> => {
    const write = async (): Promise<boolean> => {
      const metadata = { namespace: "default", name: `map-${round++ % 3}` };
      await api.client.apply(ConfigMap, { metadata, data: { round: `${round}` } });
      return isOver();
    };
    await expect.poll(write, { interval: 10 }).toBe(true);
  };
  await writeUntil(() => withSnapshot().length > 1);
  const before = files().length;
  await writeUntil(() => files().length > before); // the segment before is folded now
  child.kill("SIGKILL");
  expect(await exited).toEqual([null, "SIGKILL"]);
  const [first, second] = withSnapshot().slice(-2);
  for (const file of files()) if (file < `${first}`) rmSync(file);
  expect(second).toBeDefined();
  const recording = await openRecording(directory);
  expect(recording.head.segment).toBeGreaterThan(1);
  const report = await shadow(recording, { upgradeFrom: setup, setup, timings: 1 });
  expect(report).toEqual({ news: [], lost: [], orphans: [], loop: undefined, foreign: [] });
  const checked = await runBin(["recording", "check", directory], directory);
  expect(checked.code).toBe(1);
  expect(checked.stdout).toContain("shadow begins at a snapshot of it\n");
});
