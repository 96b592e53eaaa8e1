import { EventEmitter } from "node:events";
import { statSync } from "node:fs";
import { realClock } from "@holdfast/clock";
import { silentLogger } from "@holdfast/controller";
import { openRecording } from "@holdfast/controller/recording";
import { FakeApi, replay } from "@holdfast/fake-apiserver";
import {
  atUrl,
  builtIn,
  type KubeObject,
  type OperatorSetup,
  runOperator,
} from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { freePort } from "../../../../services/free-port.mjs";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { runBin } from "../bin/run-bin.ts";

type ConfigMapObject = KubeObject & { data?: { [name: string]: string } };
const ConfigMap = builtIn<ConfigMapObject>("v1", "ConfigMap");
const Lease = builtIn("coordination.k8s.io/v1", "Lease");

const setup: OperatorSetup = ({ cluster, client, controller }) => {
  const maps = cluster.watch(ConfigMap);
  return () => [
    controller({
      name: "marker",
      sources: [maps.source()],
      async reconcile({ key, signal }) {
        if (maps.get(key)?.data?.["text"] !== undefined) return;
        await client.patch(ConfigMap, key, { data: { text: "seen" } }, { signal });
      },
    }),
  ];
};

describe("a recorded operator on real time", () => {
  it("replays with its probes, its election and its signal, which are no part of it", async () => {
    const directory = tempFolder();
    const api = new FakeApi({ clock: realClock, resources: [ConfigMap, Lease] });
    await using listener = await api.listen();
    const signals = Object.assign(new EventEmitter(), { exit: () => {} });
    const port = await freePort();
    const running = runOperator({
      ...{ name: "marker", transport: atUrl(listener.url), setup, signals, logger: silentLogger },
      ...{ health: { port, host: "127.0.0.1" }, leaderElection: { namespace: "default" } },
      recording: { directory, segmentBytes: 2_000 },
    });
    const statuses = new Set<number>();
    for (let round = 0; round < 20; round++) {
      const metadata = { namespace: "default", name: `map-${round}` };
      await api.client.create(ConfigMap, { metadata });
      await expect
        .poll(async () => (await api.client.get(ConfigMap, metadata)).data?.["text"])
        .toBe("seen");
      statuses.add((await fetch(`http://127.0.0.1:${port}/readyz`)).status);
      statuses.add((await fetch(`http://127.0.0.1:${port}/healthz`)).status);
    }
    signals.emit("SIGTERM");
    await running;
    expect(statuses).toContain(200);
    expect(signals.listenerCount("SIGTERM")).toBe(0);

    const recording = await openRecording(directory);
    const kinds = new Set([...recording.lines()].map(({ k }) => k));
    expect([...kinds].sort()).toEqual(expect.arrayContaining(["L", "S", "T", "b", "end", "h"]));
    for (let run = 0; run < 20; run++) {
      const report = await replay(recording, { setup });
      expect([report.divergence?.text, report.timers]).toEqual([undefined, []]);
    }
    for (const file of recording.files) expect(statSync(file).mode & 0o777).toBe(0o600);

    const checked = await runBin(["recording", "check", directory], directory);
    expect(checked).toMatchObject({ code: 0, stderr: "" });
    expect(checked.stdout).toMatch(
      /^marker .*: \d+ segments, \d+ inputs, \d+ calls; the operator stopped\n/,
    );
    const shown = await runBin(["recording", "show", directory], directory);
    expect(shown.stdout).toMatch(/^q \d+ PATCH \/api\/v1\/namespaces\/default\/configmaps\/map-0/m);
  });
});
