import { realClock } from "@holdfast/clock";
import { shadow } from "@holdfast/fake-apiserver";
import { atUrl } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { FakeDns } from "../website/fake-dns.ts";
import { labelled, recordedOperators } from "./recorded-operators.ts";
import { RecordedWorld } from "./recorded-world.ts";

const ROUNDS = 20;

describe.for(recordedOperators)(
  "a shadow of $name, recorded over HTTP under faults",
  (operator) => {
    it("has nothing of the same operator, and of a local change only its objects", async () => {
      const directory = tempFolder();
      const dns = new FakeDns();
      const world = new RecordedWorld(realClock, operator.resources, {
        ...{ directory, seed: 1, faultRate: 0.05 },
      });
      await using listener = await world.api.listen();
      const { name, resources } = operator;
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
      const transport = atUrl(listener.url);
      const recording = await world.record({ name, setup: operator.setup(dns) }, play, transport);
      const old = operator.setup(new FakeDns());
      const common = { upgradeFrom: old, resources };
      const same = await shadow(recording, { ...common, setup: old });
      expect(same).toMatchObject({ news: [], lost: [], orphans: [], loop: undefined });
      const { news, lost } = await shadow(recording, { ...common, setup: labelled(old) });
      for (const { request } of [...news, ...lost]) expect(request).toMatch(/-1\b/);
      expect(JSON.stringify(lost)).not.toContain("tried");
    });
  },
);
