import { setImmediate } from "node:timers/promises";
import { FakeClock } from "@holdfast/clock/testing";
import { openRecording } from "@holdfast/controller/recording";
import { shadow } from "@holdfast/fake-apiserver";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { FakeDns } from "../website/fake-dns.ts";
import { labelled, recordedOperators } from "./recorded-operators.ts";
import { RecordedWorld, since, snapshotsOf } from "./recorded-world.ts";

const SEEDS = [1, 2];

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
          snapshotsOf(await openRecording(directory)).length > 0;
        const play = async (): Promise<void> => {
          for (let round = 0; round < 10; round++) {
            await operator.play(world, dns, round);
            await clock.sleep(20_000);
            while (round === 3 && !(await hasSnapshot())) {
              await clock.sleep(1_000);
              await clock.external(setImmediate()); // the disk and the worker take real time
            }
            if (round !== 5) continue;
            world.api.stop();
            await clock.sleep(60_000);
            await world.api.start({ history: seed % 2 === 0 ? "lost" : "kept" });
          }
        };
        const options = { name, setup: operator.setup(dns) };
        const recording = { directory, segmentBytes: 4_000 };
        const whole = await clock.run(() => world.record({ ...options, recording }, play));
        const rest = since(whole, snapshotsOf(whole)[0] as string);
        expect(rest.head.segment).toBeGreaterThan(1);
        const upgradeFrom = operator.setup(new FakeDns());
        const common = { resources, timings: 1 };
        const all = await shadow(rest, {
          ...common,
          upgradeFrom: () => () => [],
          setup: upgradeFrom,
        });
        expect(all.news.length).toBeGreaterThan(1);
        const same = await shadow(rest, { ...common, upgradeFrom, setup: upgradeFrom });
        expect(same).toEqual({ news: [], lost: [], orphans: [], loop: undefined });
        const changed = await shadow(rest, {
          ...common,
          upgradeFrom,
          setup: labelled(upgradeFrom),
        });
        for (const { request } of [...changed.news, ...changed.lost])
          expect(request).toMatch(/-1\b/);
        expect(JSON.stringify(changed.news)).toContain('"tried":"yes"');
        expect(JSON.stringify(changed.lost)).not.toContain("tried");
      },
    );
  },
);
