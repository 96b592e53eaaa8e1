import { FakeClock } from "@holdfast/clock/testing";
import type { Recording } from "@holdfast/controller/recording";
import { shadow } from "@holdfast/fake-apiserver";
import type { OperatorSetup } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { FakeDns } from "../website/fake-dns.ts";
import { labelled, recordedOperators } from "./recorded-operators.ts";
import { RecordedWorld } from "./recorded-world.ts";

const SEEDS = [1, 2, 3];

describe.for(recordedOperators)(
  "a shadow of $name, recorded on the fake clock under faults",
  (operator) => {
    it.for(SEEDS)(
      "has nothing of the same operator, and of a local change only its objects, seed %d",
      async (seed) => {
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
        const upgradeFrom = operator.setup(new FakeDns());
        const idle: OperatorSetup = () => () => [];
        const all = await shadow(recording, {
          ...{ upgradeFrom: idle, resources, timings: 1 },
          setup: upgradeFrom,
        });
        const written = new Set(
          all.news.map(({ request }) => request.split(" ").slice(1).join(" ")),
        );
        const missing = [...objectsWritten(recording)].filter((name) => !written.has(name));
        expect(missing).toEqual([]);
        const common = { upgradeFrom, resources, timings: 3 };
        const same = await shadow(recording, { ...common, setup: upgradeFrom });
        expect(same).toMatchObject({ news: [], lost: [], orphans: [], loop: undefined });
        const { news, lost } = await shadow(recording, { ...common, setup: labelled(upgradeFrom) });
        for (const { request } of [...news, ...lost]) expect(request).toMatch(/-1\b/);
        expect(JSON.stringify(news)).toContain('"tried":"yes"');
        expect(JSON.stringify(lost)).not.toContain("tried");
      },
    );
  },
);

/** The objects that a recorded operator has written. */
function objectsWritten(recording: Recording): Set<string> {
  const names = new Set<string>();
  for (const { k, m, u, body } of recording.lines()) {
    if (k !== "q" || m === "GET" || /leases|events/.test(`${u}`)) continue;
    const [, group, plural, name = JSON.parse(`${body}`).metadata.name, status] =
      /^\/api(?:s\/([^/]+))?\/v1\/namespaces\/default\/(\w+)(?:\/([^/?]+))?(\/status)?/.exec(
        `${u}`,
      ) ?? [];
    names.add(`${plural}${group ? `.${group}` : ""}${status ?? ""} default/${name}`);
  }
  return names;
}
