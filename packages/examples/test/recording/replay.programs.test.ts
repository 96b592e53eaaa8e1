import { realClock } from "@holdfast/clock";
import type { Line, Recording } from "@holdfast/controller/recording";
import { replay } from "@holdfast/fake-apiserver";
import { atUrl } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { FakeDns } from "../website/fake-dns.ts";
import { recordedOperators } from "./recorded-operators.ts";
import { RecordedWorld } from "./recorded-world.ts";

const ROUNDS = 20;
const REPLAYS = 20;

describe.for(recordedOperators)("a recording of $name over HTTP, under faults", (operator) => {
  it("replays 20 times, with equal requests and no timer left", async () => {
    const directory = tempFolder();
    const dns = new FakeDns();
    const world = new RecordedWorld(realClock, operator.resources, {
      ...{ directory, seed: 1, faultRate: 0.05 },
    });
    await using listener = await world.api.listen();
    const transport = atUrl(listener.url);
    const { name } = operator;
    const play = async (): Promise<void> => {
      for (let round = 0; round < ROUNDS; round++) {
        if (round === ROUNDS / 2) {
          world.api.stop();
          await realClock.sleep(50);
          await world.api.start({ history: "lost" });
        }
        await operator.play(world, dns, round).catch(() => {});
        await realClock.sleep(50);
      }
    };
    const recording = await world.record({ name, setup: operator.setup(dns) }, play, transport);
    const asked = callsOf(recording);
    expect(asked.length).toBeGreaterThan(5);
    expect([...recording.lines()].filter(({ k }) => k === "f")).toEqual([]);
    for (let run = 0; run < REPLAYS; run++) {
      const report = await replay(recording, { setup: operator.setup(new FakeDns()) });
      expect(report.divergence?.text).toBeUndefined();
      expect([report.requests, report.timers]).toEqual([asked.length, []]);
    }
  });
});

function callsOf(recording: Recording): Line[] {
  return [...recording.lines()].filter(({ k }) => k === "q" || k === "l");
}
