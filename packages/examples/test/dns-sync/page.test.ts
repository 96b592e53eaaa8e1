import { expect, it } from "vitest";
import { mainOf } from "../../src/dns-sync/page.ts";
import { STATE } from "./page-state.ts";

it("shows who held a Lease when, and how long nobody did", () => {
  const html = mainOf(STATE);
  const spans = [...html.matchAll(/<rect class="(\w+)" x="([\d.]+)" width="([\d.]+)"/g)];
  // The last minute on a line of 1,000.
  expect(spans.map(([, ...span]) => span)).toEqual([
    ["free", "0.0", "16.7"],
    ["replica1", "16.7", "316.7"],
    ["free", "333.3", "136.9"],
    ["replica2", "470.2", "529.8"],
  ]);
  expect(html).toContain("replica-1 is gone, since 00:00:20.000 for 8.214 s");
  expect(html).toContain("hand-over: 8214 ms");
  expect(html).toContain('<time datetime="1970-01-01T00:00:28.214Z">00:00:28.214</time>');
});

it("shows texts of others as text", () => {
  const evil = '<b "';
  const html = mainOf({
    ...STATE,
    api: evil,
    replicas: [{ name: evil, pid: 1, look: "replica1" }],
    leases: STATE.leases.map((lease) => ({
      ...lease,
      ...{ name: evil, token: evil, wantedBy: evil },
      spans: [{ at: 0, look: evil, text: evil }],
    })),
    provider: { ...STATE.provider, fault: evil },
    log: [{ at: 0, text: evil }],
  });
  expect(html.match(/<b |[^=]""/g)).toBeNull();
});
