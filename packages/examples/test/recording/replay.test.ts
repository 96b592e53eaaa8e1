import { FakeClock } from "@holdfast/clock/testing";
import { replay } from "@holdfast/fake-apiserver";
import type { OperatorSetup } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { Website } from "../../src/website/resources.ts";
import { websites } from "../../src/website/website.ts";
import { FakeDns } from "../website/fake-dns.ts";
import { home, resources, spec, startPods, TARGET } from "../website/website-world.ts";
import { RecordedWorld } from "./recorded-world.ts";

const linked =
  (dns: FakeDns): OperatorSetup =>
  (context) =>
    websites(context.link(dns, "dns"), TARGET)(context);

it.for([1, 2, 3, 4, 5, 6, 7, 8])("replays the Website operator, seed %d", async (seed) => {
  const clock = new FakeClock();
  const dns = new FakeDns();
  const world = new RecordedWorld(clock, resources, {
    directory: tempFolder(),
    seed,
    faultRate: 0.2,
  });
  const { api } = world;
  const recording = await clock.run(async () =>
    world.record({ name: "website", setup: linked(dns) }, async () => {
      await api.client.create(Website, { metadata: home, spec });
      await clock.sleep(1_000);
      await startPods(api.client).catch(() => {});
      await clock.sleep(10_000);
      dns.isDown = true;
      await api.client.patch(Website, home, { spec: { host: "b.example.org" } });
      await clock.sleep(30_000);
      dns.isDown = false;
      api.stop();
      await clock.sleep(60_000);
      await api.start({ history: "lost" });
      await clock.sleep(60_000);
      await api.client.delete(Website, home);
      await clock.sleep(60_000);
    }),
  );
  expect(clock.waiters()).toBe(0);
  let lines = 0;
  for (const _ of recording.lines()) lines++;
  const report = await replay(recording, { setup: linked(new FakeDns()) });
  console.log(lines, report.requests, report.inputs, report.timers, report.foreign);
  console.log(report.divergence?.text);
  expect(report.divergence).toBeUndefined();
});
