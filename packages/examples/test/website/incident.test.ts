import { FakeClock } from "@holdfast/clock/testing";
import { replay, shadow } from "@holdfast/fake-apiserver";
import type { OperatorSetup } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { Website } from "../../src/website/resources.ts";
import { websites } from "../../src/website/website.ts";
import { RecordedWorld } from "../recording/recorded-world.ts";
import { FakeDns } from "./fake-dns.ts";
import { home, resources, spec, startPods, TARGET } from "./website-world.ts";

/** The operator, whose records lead to a target. */
const leadingTo =
  (target: string, dns = new FakeDns()): OperatorSetup =>
  (context) =>
    websites(context.link(dns, "dns"), target)(context);

it("an incident of the Website operator is repeated, mended, and a release is tried on it", async () => {
  const clock = new FakeClock();
  const dns = new FakeDns();
  const world = new RecordedWorld(clock, resources, { directory: tempFolder(), seed: 1 });
  const night = async (): Promise<void> => {
    await world.api.client.create(Website, { metadata: home, spec });
    await clock.sleep(5_000);
    await startPods(world.api.client);
    await clock.sleep(60_000);
  };
  // Last night's version sent the visitors to a load balancer that was gone.
  const faulty = leadingTo("old.example.org", dns);
  const recording = await clock.run(() => world.record({ name: "website", setup: faulty }, night));
  expect([...dns.records.values()]).toEqual([`${spec.host} old.example.org`]);

  // The test of the incident is red: the operator repeats its mistake.
  const again = await replay(recording, { setup: leadingTo("old.example.org") });
  expect(again.divergence).toBeUndefined();

  // Mended, its first call that differs is the right one.
  const { divergence } = await replay(recording, { setup: leadingTo(TARGET) });
  expect(divergence?.request?.["c"]).toContain(`"target":"${TARGET}"`);
  expect(divergence?.recorded?.["c"]).toContain('"target":"old.example.org"');

  // The release writes that record and the status that names its target otherwise, and nothing else.
  const report = await shadow(recording, {
    upgradeFrom: leadingTo("old.example.org"),
    setup: leadingTo(TARGET),
  });
  const calls = [...report.news, ...report.lost].map(({ request }) => request.split("(")[0]);
  expect(new Set(calls)).toEqual(
    new Set(["dns.put", "apply websites.example.org/status default/home"]),
  );
  expect(report.news[0]?.request).toContain(TARGET);
});
