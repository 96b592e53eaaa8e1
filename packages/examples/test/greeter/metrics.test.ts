import { readFileSync } from "node:fs";
import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { FakeApi } from "@holdfast/fake-apiserver";
import { builtIn, type KubeObject, type OperatorOptions, runOperator } from "@holdfast/kubernetes";
import { prometheusMetrics } from "@holdfast/kubernetes/prometheus";
import { Registry } from "prom-client";
import { beforeAll, describe, expect, it } from "vitest";
import { parsePrometheusText } from "../../../../test/prometheus-text.ts";
import { ConfigMap, Greeting, greeter } from "../../src/greeter/greeter.ts";

const Lease = builtIn<KubeObject>("coordination.k8s.io/v1", "Lease");
const guide = (name: string) => new URL(`../../../../docs/${name}.md`, import.meta.url);
const SHARDS_GUIDE = guide("several-replicas");

/** Names of metrics in a section of a guide. */
function metricsIn(name: string, section: string): string[] {
  const [, text = ""] = readFileSync(guide(name), "utf8").split(`\n## ${section}\n`);
  const [own = ""] = text.split("\n## ");
  const names = own.match(/\b[a-z]+(?:_[a-z]+)+_(?:total|status|depth|seconds)\b/g) ?? [];
  return [...new Set(names)];
}

/** What a scraper reads of the greeter after some time. */
async function scrape(
  time: number,
  replicas: Pick<OperatorOptions, "leaderElection" | "shards">,
): Promise<string> {
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [Greeting, ConfigMap, Lease] });
  const register = new Registry();
  const stop = new AbortController();
  return await clock.run(async () => {
    const metadata = { namespace: "default", name: "ann" };
    await api.client.create(Greeting, { metadata, spec: { name: "Ann" } });
    const running = runOperator(
      {
        name: "greeter",
        transport: api.transport,
        setup: greeter,
        clock,
        ...replicas,
        health: false,
        logger: silentLogger,
        metrics: prometheusMetrics({ register }),
      },
      stop.signal,
    );
    await clock.sleep(time);
    const text = await register.metrics();
    stop.abort();
    await running;
    return text;
  });
}

let text: string;

beforeAll(async () => {
  text = await scrape(700_000, { leaderElection: { namespace: "default" } });
});

describe("the greeter with metrics", () => {
  it("is read by a strict scraper", () => {
    expect(parsePrometheusText(text).get("workqueue_depth")?.type).toBe("gauge");
  });

  it.each([
    'controller_runtime_reconcile_total{controller="greeter",result="success"} 2', // for the Greeting, for its ConfigMap
    'controller_runtime_max_concurrent_reconciles{controller="greeter"} 4',
    'workqueue_depth{name="greeter",controller="greeter",priority="0"} 0',
    'leader_election_master_status{name="greeter"} 1',
    'informer_synced{resource="greetings.example.org"} 1',
  ])("exports %s", (sample) => expect(text.split("\n")).toContain(sample));

  it("has a sample of every metric that an alert of the guide reads", () => {
    const names = metricsIn("operating-an-operator", "Alerts");
    expect(names.length).toBeGreaterThan(5);
    const missing = names.filter(
      (name) => !new RegExp(`^${name}(?:\\{.*\\})? \\d`, "m").test(text),
    );
    expect(missing).toEqual([]);
  });

  it.each(["Controllers, queues, election", "Operators"])(
    "registers every metric of %s",
    (section) => {
      const names = metricsIn("metrics", section).filter((name) => !name.startsWith("shards_"));
      expect(names.length).toBeGreaterThan(8);
      const missing = names.filter((name) => !text.includes(`# TYPE ${name} `));
      expect(missing).toEqual([]);
    },
  );
});

it("the greeter with slots exports every series that the guide's queries select", async () => {
  const sharded = await scrape(30_000, { shards: { namespace: "default" } });
  const [, section = ""] = readFileSync(SHARDS_GUIDE, "utf8").split("\n## What to watch\n");
  const selectors = [...section.matchAll(/\b(shards_[a-z_]+)(?:\{([^}]*)\})?/g)];
  expect(new Set(selectors.map(([selector]) => selector))).toEqual(
    new Set([
      "shards_slots",
      "shards_taken_total",
      'shards_slots{state="free"}',
      'shards_slots{state="giving"}',
    ]),
  );
  const lines = sharded.split("\n");
  for (const [selector, name = "", labels = ""] of selectors)
    expect([
      selector,
      lines.some((line) => line.startsWith(`${name}{`) && line.includes(labels)),
    ]).toEqual([selector, true]);
  expect(lines).toContain('shards_slots{name="greeter",state="held"} 16');
  expect(lines).toContain('shards_taken_total{name="greeter"} 16');
});
