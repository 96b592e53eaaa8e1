import { fileURLToPath } from "node:url";
import { silentLogger } from "@holdfast/controller";
import { openRecording } from "@holdfast/controller/recording";
import { replay } from "@holdfast/fake-apiserver";
import { type OperatorSetup, runOperator } from "@holdfast/kubernetes";
import { describe, expect } from "vitest";
import { ownServerTest } from "../../../../test/cluster.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { Website } from "../../src/website/resources.ts";
import { websites } from "../../src/website/website.ts";
import { GuardedCluster } from "../guarded-cluster.ts";
import { FakeDns } from "../website/fake-dns.ts";
import { home, spec, startPods, TARGET } from "../website/website-world.ts";

const DEPLOY = fileURLToPath(new URL("../../src/website/deploy/website.yaml", import.meta.url));

const linked =
  (dns: FakeDns): OperatorSetup =>
  (context) =>
    websites(context.link(dns, "dns"), TARGET)(context);

describe("a recording of the Website operator on a real server", () => {
  ownServerTest("replays 20 times, and names the write of a changed operator", async () => {
    await using cluster = await GuardedCluster.start([DEPLOY], Website.crd);
    const { admin, namespace, transport } = cluster;
    const directory = tempFolder();
    const dns = new FakeDns();
    const stop = new AbortController();
    const running = runOperator(
      {
        ...{ name: "website", transport, setup: linked(dns), logger: silentLogger },
        ...{ health: false, leaderElection: { namespace }, recording: { directory } },
      },
      stop.signal,
    );
    const published = async (): Promise<string | undefined> =>
      (await admin.find(Website, home))?.status?.conditions?.find(
        ({ type, observedGeneration }) => type === "Published" && (observedGeneration ?? 0) >= 1,
      )?.message;
    await admin.create(Website, { metadata: home, spec });
    await cluster.until(async () => (await published()) !== undefined);
    await startPods(admin);
    for (let round = 0; round < 10; round++) {
      const host = `${round}.example.org`;
      await admin.patch(Website, home, { spec: { host } });
      await cluster.until(async () => (await published())?.startsWith(host) === true);
    }
    await admin.delete(Website, home);
    await cluster.until(async () => (await admin.find(Website, home)) === undefined);
    stop.abort();
    await running;

    const recording = await openRecording(directory);
    const asked = [...recording.lines()].filter(({ k }) => k === "q" || k === "l").length;
    expect(asked).toBeGreaterThan(50);
    for (let run = 0; run < 20; run++) {
      const report = await replay(recording, { setup: linked(new FakeDns()) });
      expect(report.divergence?.text).toBeUndefined();
      expect([report.requests, report.timers]).toEqual([asked, []]);
    }
    const other: OperatorSetup = (context) =>
      websites(context.link(new FakeDns(), "dns"), "other.example.org")(context);
    const { divergence } = await replay(recording, { setup: other });
    expect(divergence?.request).toMatchObject({ k: "l" });
    expect(divergence?.text).toContain("other.example.org");
  });
});
