import { readFileSync } from "node:fs";
import { Controller, LeaderElector, MemoryLock, resync } from "@holdfast/controller";
import { explore } from "@holdfast/explore";
import { type ExploredContext, explore as exploreOperator } from "@holdfast/fake-apiserver";
import {
  builtIn,
  customResource,
  type KubeObject,
  type OperatorContext,
} from "@holdfast/kubernetes";
import { Cron } from "croner";
import { describe, expect, inject, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { schedule } from "../../src/recipes/scheduled-job.ts";

// The operators and controllers of guides, copied: the explorer finds nothing in them. The greeter of "Your first
// operator" and the mirror of "Getting started" are explored where they are.

// Two faults at a time, up to 1,000 worlds in `npm run sim`.
const pairs = inject("isThorough") ? 1_000 : 10;

const seeds = [inject("simSeed")];

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

describe.each(seeds)("with seed %i, every fault leaves the same state of", (seed) => {
  it('the marker of "Testing an operator"', async () => {
    const ConfigMap = builtIn<KubeObject & { data?: Record<string, string> }>("v1", "ConfigMap");
    const marker = ({ cluster, client, controller }: OperatorContext) => {
      const maps = cluster.watch(ConfigMap);
      return () => [
        controller({
          name: "marker",
          sources: [maps.source()],
          async reconcile({ key, signal }) {
            if (maps.get(key) === undefined) return;
            await client.patch(ConfigMap, key, { data: { seen: "yes" } }, { signal });
          },
        }),
      ];
    };
    const { worlds, planned } = await exploreOperator({
      seed,
      pairs,
      setup: marker,
      resources: [ConfigMap],
      async scenario({ client, clock }) {
        for (const name of ["a", "b"]) {
          await client.create(ConfigMap, { metadata: { namespace: "default", name }, data: {} });
          await clock.sleep(SECOND);
        }
        await client.delete(ConfigMap, "default/a");
      },
    });
    expect(worlds).toBe(planned + pairs);
    expect(planned).toBeGreaterThan(30);
  });

  it('the operator with a DNS provider of "Finding the crash"', async () => {
    interface HostObject extends KubeObject {
      spec: { address: string };
    }
    const names = { apiVersion: "example.org/v1", kind: "Host", plural: "hosts" };
    const Host = customResource<HostObject>(names);
    class FakeDns {
      readonly records = new Map<string, string>();
      async set(name: string, address: string): Promise<void> {
        this.records.set(name, address);
      }
    }
    const dnsSync = ({ cluster, controller, link, world }: ExploredContext<FakeDns>) => {
      const hosts = cluster.watch(Host);
      const dns = link(world, "dns");
      return () => [
        controller({
          name: "dns",
          sources: [hosts.source()],
          async reconcile({ key }) {
            const host = hosts.get(key);
            if (host !== undefined) await dns.set(host.metadata.name, host.spec.address);
          },
        }),
      ];
    };
    const metadata = { namespace: "default", name: "www" };
    const { worlds, planned } = await exploreOperator({
      seed,
      pairs,
      world: () => new FakeDns(),
      setup: dnsSync,
      resources: [Host],
      async scenario({ client, clock }) {
        await client.create(Host, { metadata, spec: { address: "192.0.2.1" } });
        await clock.sleep(SECOND);
        await client.patch(Host, metadata, { spec: { address: "192.0.2.2" } });
      },
      stateOf: ({ records }) => records,
    });
    expect(worlds).toBe(planned + pairs);
    expect(planned).toBeGreaterThan(10);
  });

  it('the replicas of "Controllers"', async () => {
    const { worlds, planned } = await explore({
      seed,
      pairs,
      world: () => ({ wanted: new Map([["web", 2]]), actual: new Map<string, number>() }),
      async run({ world: { wanted, actual }, link, clock, random, signal }) {
        const set = link(async (key: string, count: number) => void actual.set(key, count), "set");
        const controller = new Controller({
          name: "replicas",
          sources: [resync({ list: () => wanted.keys(), interval: 600_000 })],
          reconcile: async ({ key }) => await set(key, wanted.get(key) ?? 0),
          clock,
          random,
        });
        await controller.run(signal);
      },
      async scenario({ world: { wanted }, clock }) {
        await clock.sleep(SECOND);
        wanted.set("web", 3);
      },
      quiet: 1_200_000,
      stateOf: ({ actual }) => actual,
    });
    expect(worlds).toBe(planned + pairs);
    expect(planned).toBeGreaterThan(5);
  });

  it('the jobs of "Scheduled jobs", each at least once', async () => {
    const { worlds, planned } = await explore({
      seed,
      pairs,
      replicas: 2,
      quiet: 10 * MINUTE,
      world: () => new Office(),
      async run({ world, link, clock, random, signal, replica }) {
        const runs = link(world.runs, "runs");
        const report = link(world.report, "report");
        const job = { name: "report", times: [new Cron("*/5 * * * *")], run: report };
        await new LeaderElector({
          lock: world.lock,
          identity: `replica-${replica}`,
          clock,
          random,
          lead: ({ signal: term }) => schedule(job, runs, term, clock),
          onError: () => {}, // campaigns again
        }).run(signal);
      },
      scenario: ({ clock }) => clock.sleep(12 * MINUTE),
      stateOf: ({ reports }) => reports,
    });
    expect(worlds).toBe(planned + pairs);
    expect(planned).toBeGreaterThan(5);
  });
});

const guide = readFileSync(
  new URL("../../../../docs/finding-the-crash.md", import.meta.url),
  "utf8",
);

it('finds the bug of "Finding the crash", with the report that the guide shows', async () => {
  interface ThingObject extends KubeObject {
    status?: { child: string };
  }
  const names = { apiVersion: "example.org/v1", kind: "Thing", plural: "things" };
  const Thing = customResource<ThingObject>(names);
  const ConfigMap = builtIn<KubeObject>("v1", "ConfigMap");
  const operator = ({ cluster, client, controller }: OperatorContext) => {
    const things = cluster.watch(Thing);
    return () => [
      controller({
        name: "things",
        sources: [things.source()],
        async reconcile({ key }) {
          const thing = things.get(key);
          if (thing === undefined || thing.status !== undefined) return;
          const metadata = { namespace: "default", generateName: "ann-" };
          const child = await client.create(ConfigMap, { metadata });
          const status = { child: child.metadata.name };
          await client.patch(Thing, key, { status }, { subresource: "status" });
        },
      }),
    ];
  };
  const error = await errorOf(
    exploreOperator({
      setup: operator,
      resources: [Thing, ConfigMap],
      scenario: ({ client }) =>
        client.create(Thing, { metadata: { namespace: "default", name: "ann" } }),
    }),
  );
  const [, shown] = /```text\n(response lost [^`]*)\n```/.exec(guide) ?? [];
  expect((error as Error).message).toBe(shown);
});

/** The lock, the row with the last run, and the reports, of which two count, so that a world ends. */
class Office {
  readonly lock = new MemoryLock();
  readonly reports = new Set<string>();
  #last: Date | undefined;

  readonly report = async (due: Date): Promise<void> => {
    if (due.getUTCMinutes() <= 10) this.reports.add(due.toISOString());
  };

  readonly runs = {
    last: async () => this.#last,
    save: async (_: string, due: Date) => {
      this.#last = due;
    },
  };
}
