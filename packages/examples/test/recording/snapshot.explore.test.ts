import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { openRecording, type Recording } from "@holdfast/controller/recording";
import { shadow } from "@holdfast/fake-apiserver";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { FakeDns } from "../website/fake-dns.ts";
import { labelled, recordedOperators } from "./recorded-operators.ts";
import { RecordedWorld, ringsOf } from "./recorded-world.ts";

const SEEDS = [1, 2];

/** Most begins of a recording that are walked, the first and the last among them. */
const WALKED = 2;

describe.for(recordedOperators)(
  "a shadow of $name from a snapshot, recorded on the fake clock under faults",
  (operator) => {
    it.for(SEEDS)(
      "has nothing of the same operator, and of a local change only its objects, seed %d",
      async (seed) => {
        const clock = new FakeClock();
        const dns = new FakeDns();
        const directory = tempFolder();
        const { name, resources } = operator;
        const world = new RecordedWorld(clock, resources, { directory, seed, faultRate: 0.2 });
        const hasSnapshot = async (): Promise<boolean> =>
          ringsOf(await openRecording(directory)).length > 0;
        /** Time of the world, in which the disk and the worker take real time. */
        const pass = async (seconds: number): Promise<void> => {
          for (let second = 0; second < seconds; second++) {
            await clock.sleep(1_000);
            await clock.external(realClock.sleep(2));
          }
        };
        const play = async (): Promise<void> => {
          for (let round = 0; round < 10; round++) {
            await operator.play(world, dns, round);
            await pass(20);
            while (round === 3 && !(await hasSnapshot())) await pass(1);
            if (round !== 5) continue;
            world.api.stop();
            await pass(60);
            await world.api.start({ history: seed % 2 === 0 ? "lost" : "kept" });
          }
        };
        const options = { name, setup: operator.setup(dns) };
        const recording = { directory, segmentBytes: 4_000 };
        const whole = await clock.run(() => world.record({ ...options, recording }, play));
        const upgradeFrom = operator.setup(new FakeDns());
        const all = ringsOf(whole);
        expect(all.length).toBeGreaterThan(0);
        const step = Math.max(1, (all.length - 1) / (WALKED - 1));
        for (let at = 0; at < all.length; at += step) {
          const rest = all[Math.floor(at)] as Recording;
          const common = { resources, timings: 1, upgradeFrom };
          const same = await shadow(rest, { ...common, setup: upgradeFrom });
          expect(same).toMatchObject({ news: [], lost: [], orphans: [], loop: undefined });
          if (at > 0) continue;
          const setup = labelled(upgradeFrom);
          const { news, lost } = await shadow(rest, { ...common, timings: 3, setup });
          for (const { request } of [...news, ...lost]) expect(request).toMatch(/-1\b/);
          expect(JSON.stringify(news)).toContain('"tried":"yes"');
          expect(JSON.stringify(lost)).not.toContain("tried");
        }
      },
    );
  },
);
