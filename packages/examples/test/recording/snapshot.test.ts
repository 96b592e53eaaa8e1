import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { openRecording } from "@holdfast/controller/recording";
import { shadow } from "@holdfast/fake-apiserver";
import { yieldTurn } from "@holdfast/kit";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { FakeDns } from "../website/fake-dns.ts";
import { labelled, recordedOperators } from "./recorded-operators.ts";
import { RecordedWorld, since, snapshotsOf, unwritten } from "./recorded-world.ts";

const SEEDS = [Number(process.env.SEEDN ?? 1)];

describe.for(recordedOperators.filter(({name}) => (process.env.ONLY ?? name) === name))(
  "a shadow of $name from each snapshot, recorded on the fake clock under faults",
  (operator) => {
    it.for(SEEDS)(
      "has nothing of the same operator, and of a local change only its objects, seed %d",
      async (seed) => {
        const clock = new FakeClock();
        const dns = new FakeDns();
        const directory = tempFolder();
        const { name, resources } = operator;
        const world = new RecordedWorld(clock, resources, { directory, seed, faultRate: 0.2 });
        const snapshots = async (): Promise<number> =>
          await openRecording(directory).then((found) => snapshotsOf(found).length, () => 0);
        const times = [performance.now()];
        const play = async (): Promise<void> => {
          for (let round = 0; round < 14; round++) {
            await operator.play(world, dns, round);
            await clock.sleep(20_000);
            const before = await snapshots();
            while (round % 4 === 3 && (await snapshots()) === before) {
              await clock.sleep(1_000);
              await clock.external(yieldTurn(realClock)); // the disk and the worker take real time
            }
            if (round !== 5) continue;
            world.api.stop();
            await clock.sleep(60_000);
            await world.api.start({ history: seed % 2 === 0 ? "lost" : "kept" });
          }
        };
        const options = { name, setup: operator.setup(dns) };
        const recording = await clock.run(() =>
          world.record({ ...options, recording: { directory, segmentBytes: 4_000 } }, play),
        );
        times.push(performance.now());
        const upgradeFrom = operator.setup(new FakeDns());
        const segments = snapshotsOf(recording);
        console.log(segments.length);
        for (const segment of segments.slice(0, Number(process.env.FEW ?? 99))) {
          const rest = since(recording, segment);
          expect(rest.head.segment).toBeGreaterThan(1);
          const common = { upgradeFrom, resources, timings: 2 };
          const same = await shadow(rest, { ...common, setup: upgradeFrom });
          if (JSON.stringify(same).length > 60) console.log("SAME", name, seed, segment, JSON.stringify(same).slice(0, 1500));
          expect.soft(same).toEqual({ news: [], lost: [], orphans: [], loop: undefined });
          const { news, lost } = await shadow(rest, { ...common, setup: labelled(upgradeFrom) });
          times.push(performance.now());
          console.log(times.map((t) => Math.round(t - times[0]!)).join(), name, seed, segment.slice(-20), news.length, lost.length);
          const all = await shadow(rest, { ...common, upgradeFrom: () => () => [], setup: upgradeFrom, timings: 1 });
const miss = unwritten(rest, all); if (miss.length) console.log("MISS", segment, miss);
          expect.soft(miss).toEqual([]);
          for (const { request } of [...news, ...lost]) expect.soft(request).toMatch(/-1\b/);
          expect.soft(JSON.stringify(lost)).not.toContain("tried");
        }
      },
    );
  },
);
