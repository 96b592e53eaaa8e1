import { FakeClock } from "@holdfast/clock/testing";
import { builtIn, KubeClient } from "@holdfast/kubernetes";
import { FakeApi } from "@holdfast/kubernetes/testing";
import { expect, it } from "vitest";
import type { HarnessApi } from "../../src/dns-sync/harness/api/harness-api.ts";
import { Truth } from "../../src/dns-sync/harness/truth.ts";
import { DnsRecord, DnsZone } from "../../src/dns-sync/operator/resources.ts";

const Lease = builtIn("coordination.k8s.io/v1", "Lease");

// Replicas report, and the page asks, before the harness has the objects.
it("knows nothing before the first lists, and says so", async () => {
  const clock = new FakeClock();
  const { transport } = new FakeApi({ clock, resources: [DnsRecord, DnsZone, Lease] });
  const client = new KubeClient({ transport, clock });
  const api: Partial<HarnessApi> = { transport, client, namespace: "default" };
  const truth = new Truth(api as HarnessApi, clock, () => undefined);
  expect([truth.isReady, truth.size, truth.lease]).toEqual([false, 0, undefined]);
  const end = new AbortController();
  await clock.run(async () => {
    const running = truth.run(end.signal);
    await truth.ready(end.signal);
    expect([truth.isReady, truth.size, truth.lease]).toEqual([true, 0, undefined]);
    end.abort();
    await running;
  });
});
