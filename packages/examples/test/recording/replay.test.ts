import { FakeClock } from "@holdfast/clock/testing";
import { replay } from "@holdfast/fake-apiserver";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { FakeDns } from "../website/fake-dns.ts";
import { recordedOperators } from "./recorded-operators.ts";
import { RecordedWorld } from "./recorded-world.ts";

const SEEDS = [1, 2, 3];

describe.for(recordedOperators)(
  "recordings of $name on the fake clock, under faults",
  (operator) => {
    it.for(SEEDS)("replay with equal requests, and no timer left, seed %d", async (seed) => {
      const clock = new FakeClock();
      const dns = new FakeDns();
      const directory = tempFolder();
      const { name, resources } = operator;
      const world = new RecordedWorld(clock, resources, { directory, seed, faultRate: 0.2 });
      const play = async (): Promise<void> => {
        for (let round = 0; round < 10; round++) {
          await operator.play(world, dns, round);
          await clock.sleep(20_000);
          if (round !== 5) continue;
          world.api.stop();
          await clock.sleep(60_000);
          await world.api.start({ history: seed % 2 === 0 ? "lost" : "kept" });
        }
      };
      const recording = await clock.run(() =>
        world.record({ name, setup: operator.setup(dns) }, play),
      );
      expect(clock.waiters()).toBe(0);
      const asked = [...recording.lines()].filter(({ k }) => k === "q" || k === "l").length;
      expect(asked).toBeGreaterThan(50);
      for (let run = 0; run < 3; run++) {
        const report = await replay(recording, { setup: operator.setup(new FakeDns()) });
        expect([report.divergence?.text, report.requests]).toEqual([undefined, asked]);
        expect(report.timers).toEqual([]);
      }
    });
  },
);
