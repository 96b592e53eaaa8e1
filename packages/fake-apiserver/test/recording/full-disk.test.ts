import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { openRecording } from "@holdfast/controller/recording";
import { FakeApi, replay } from "@holdfast/fake-apiserver";
import { yieldTurn } from "@holdfast/kit";
import { builtIn, type KubeObject, type OperatorSetup, runOperator } from "@holdfast/kubernetes";
import { expect, it, onTestFinished } from "vitest";
import { onDisk } from "../../../../test/on-disk.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";

const ConfigMap = builtIn<KubeObject & { data?: { [name: string]: string } }>("v1", "ConfigMap");

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

it("leaves an operator at work while the disk is full, with one line in the log and a gap", async () => {
  const directory = tempFolder(onTestFinished);
  let isFull = false;
  const writes = { made: 0, refused: 0 };
  await onDisk(async (write) => {
    writes[isFull ? "refused" : "made"] += 1;
    if (isFull) throw new Error("ENOSPC: no space left on device, write");
    await write();
  });
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [ConfigMap] });
  const log: string[] = [];
  const note = (): void => {};
  const warn = (_: object, message: string): void => void log.push(message);
  const stop = new AbortController();
  await clock.run(async () => {
    const running = runOperator(
      {
        ...{ name: "marker", transport: api.transport, setup, clock, recording: { directory } },
        ...{ health: false, leaderElection: false },
        logger: { debug: note, info: note, warn, error: warn },
      },
      stop.signal,
    );
    let number = 0;
    const workUntil = async (isOver: () => boolean): Promise<void> => {
      while (!isOver()) {
        const metadata = { namespace: "default", name: `map-${number++}` };
        await api.client.create(ConfigMap, { metadata });
        await clock.sleep(5_000);
        await clock.external(yieldTurn(realClock)); // the disk takes real time
        expect((await api.client.get(ConfigMap, metadata)).data?.["text"]).toBe("seen");
      }
    };
    await workUntil(() => writes.made >= 3);
    isFull = true;
    await workUntil(() => writes.refused >= 3);
    isFull = false;
    const before = writes.made;
    await workUntil(() => writes.made >= before + 3);
    stop.abort();
    await running;
  });
  expect(log).toEqual(["recording has a gap; the program continues"]);
  const recording = await openRecording(directory);
  const kinds = [...recording.lines()].map(({ k }) => k);
  expect(kinds.filter((kind) => kind === "gap")).toHaveLength(1);
  expect(kinds.at(-1)).toBe("end");
  await expect(replay(recording, { setup })).rejects.toThrow("the recording has a gap, ");
});
