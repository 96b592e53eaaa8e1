import { fileURLToPath } from "node:url";
import { silentLogger } from "@holdfast/controller";
import { openRecording, type Recording } from "@holdfast/controller/recording";
import { replay, shadow } from "@holdfast/fake-apiserver";
import { type OperatorSetup, runOperator } from "@holdfast/kubernetes";
import { describe, expect } from "vitest";
import { ownServerTest } from "../../../../test/cluster.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { Website } from "../../src/website/resources.ts";
import { websites } from "../../src/website/website.ts";
import { GuardedCluster } from "../guarded-cluster.ts";
import { FakeDns } from "../website/fake-dns.ts";
import { home, resources, spec, startPods, TARGET } from "../website/website-world.ts";

const DEPLOY = fileURLToPath(new URL("../../src/website/deploy/website.yaml", import.meta.url));

const linked =
  (dns: FakeDns): OperatorSetup =>
  (context) =>
    websites(context.link(dns, "dns"), TARGET)(context);

describe("a recording of the Website operator on a real server", () => {
  ownServerTest("replays after restarts, and a shadow has the changed calls alone", async () => {
    await using cluster = await GuardedCluster.start([DEPLOY], Website.crd);
    const { admin, namespace, transport } = cluster;
    const directory = tempFolder();
    const dns = new FakeDns();
    const published = async (): Promise<string | undefined> =>
      (await admin.find(Website, home))?.status?.conditions?.find(
        ({ type, observedGeneration }) => type === "Published" && (observedGeneration ?? 0) >= 1,
      )?.message;
    /** One process of the operator, recorded while `play` plays. */
    const record = async (identity: string, play: () => Promise<void>): Promise<Recording> => {
      const stop = new AbortController();
      const running = runOperator(
        {
          ...{ name: "website", identity, transport, setup: linked(dns), logger: silentLogger },
          ...{ health: false, leaderElection: { namespace }, recording: { directory } },
        },
        stop.signal,
      );
      await play();
      stop.abort();
      await running;
      return await openRecording(directory, { identity });
    };
    const change = async (hosts: readonly string[]): Promise<void> => {
      for (const host of hosts) {
        await admin.patch(Website, home, { spec: { host } });
        await cluster.until(async () => (await published())?.startsWith(host) === true);
      }
    };
    const hosts = Array.from({ length: 10 }, (_, round) => `${round}.example.org`);
    const first = await record("one", async () => {
      await admin.create(Website, { metadata: home, spec });
      await cluster.until(async () => (await published()) !== undefined);
      await startPods(admin);
      await change(hosts.slice(0, 5));
    });
    const second = await record("two", async () => {
      await change(hosts.slice(5));
      await admin.delete(Website, home);
      await cluster.until(async () => (await admin.find(Website, home)) === undefined);
    });
    const old = linked(new FakeDns());
    const other: OperatorSetup = (context) =>
      websites(context.link(new FakeDns(), "dns"), "other.example.org")(context);
    for (const recording of [first, second]) {
      const lines = [...recording.lines()];
      expect(lines.filter(({ k }) => k === "f")).toEqual([]);
      const asked = lines.filter(({ k }) => k === "q" || k === "l").length;
      expect(asked).toBeGreaterThan(25);
      for (let run = 0; run < 5; run++) {
        const report = await replay(recording, { setup: linked(new FakeDns()) });
        expect(report.divergence?.text).toBeUndefined();
        expect([report.requests, report.timers]).toEqual([asked, []]);
      }
      const { divergence } = await replay(recording, { setup: other });
      expect(divergence?.request).toMatchObject({ k: "l" });
      expect(divergence?.text).toContain("other.example.org");
      const common = { upgradeFrom: old, resources, timings: 3 };
      const same = await shadow(recording, { ...common, setup: old });
      expect(same).toMatchObject({ news: [], lost: [], orphans: [], loop: undefined });
      const { news, lost } = await shadow(recording, { ...common, setup: other });
      expect(news.length).toBeGreaterThan(0);
      const texts = (writes: readonly object[]): string[] =>
        writes.map((one) => JSON.stringify(one));
      expect(texts(news).filter((text) => text.includes("other.example.org"))).not.toEqual([]);
      expect(texts(lost).filter((text) => text.includes(TARGET))).not.toEqual([]);
      // All others are of the same Website: what it writes beside depends on when its record is there.
      const isOfSite = (text: string): boolean =>
        text.includes("default/home") || text.includes("default/website-home");
      const isChange = (text: string): boolean =>
        text.includes("other.example.org") || text.includes(TARGET);
      const rest = texts([...news, ...lost]).filter((text) => !isChange(text) && !isOfSite(text));
      expect(rest).toEqual([]);
    }
  });
});
