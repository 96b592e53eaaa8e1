import { FakeClock } from "@holdfast/clock/testing";
import type { Controller } from "@holdfast/controller";
import {
  builtIn,
  type Cluster,
  customResource,
  type OperatorOptions,
  type OperatorSetup,
  type Resource,
} from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { drawn } from "../../../../test/drawn.ts";
import { isFollowing } from "../../src/operator/health-checks.ts";
import { OperatorWorld, type Replica } from "./operator-world.ts";

// Each kind of an operator is down in turn, in each way, at each moment. What reads only the other kinds works on.

const Greeting = customResource({
  apiVersion: "example.org/v1",
  kind: "Greeting",
  plural: "greetings",
});
const ConfigMap = builtIn("v1", "ConfigMap");
const KINDS: readonly (readonly [string, Resource])[] = [
  ["greetings.example.org", Greeting],
  ["configmaps", ConfigMap],
];

/** An outage so long, in milliseconds, that a silent informer has tried to list. */
const LISTS_TRIED = 650_000;

/** How a kind is down, and how long lists must have failed until the others go on, in milliseconds. */
const WAYS: Readonly<Record<string, readonly [number | "stall", number]>> = {
  "503": [503, 25_000],
  "a deleted CRD (404)": [404, 25_000],
  "rights removed (403)": [403, 25_000],
  "no answer": ["stall", 125_000],
};
const CASES = KINDS.flatMap(([kind, resource]) =>
  Object.entries(WAYS).map(([way, [status, within]]) => ({ kind, resource, way, status, within })),
);
type Case = (typeof CASES)[number];

/** An operator with a controller for each kind, one for both, and one that reads a kind that it has as no source. */
class Outage {
  readonly clock = new FakeClock();
  readonly world = new OperatorWorld(this.clock);
  /** `replica controller key` of each reconcile that had all it reads. */
  done: string[] = [];
  /** `replica key` of each reconcile that found an object of the kind that is down. */
  found: string[] = [];
  readonly clusters = new Map<string, Cluster>();
  readonly controllers = new Map<string, Controller[]>();
  readonly #case: Case;
  #down: Disposable | undefined;

  constructor(one: Case) {
    this.#case = one;
  }

  async start(identity: string, options: Partial<OperatorOptions> = {}): Promise<Replica> {
    return this.world.start(identity, { ...options, setup: this.#setup(identity) });
  }

  async create(name: string): Promise<void> {
    for (const [, resource] of KINDS)
      await this.world.client.create(resource, { metadata: { namespace: "default", name } });
  }

  async remove(name: string): Promise<void> {
    for (const [, resource] of KINDS)
      await this.world.client.delete(resource, { namespace: "default", name });
  }

  break(): void {
    const { status, resource } = this.#case;
    const fault = status === "stall" ? { type: status } : { type: "status" as const, status };
    const rule = { fault, resource, verbs: ["list", "watch"] as const };
    // The API's own client is not hit: it only creates.
    this.#down = this.world.api.intercept(rule);
    for (const { transport } of this.world.replicas) transport.endWatches(`/${resource.plural}`);
  }

  mend(): void {
    this.#down?.[Symbol.dispose]();
  }

  /** Controllers that have reconciled a key since the last look, by replica. */
  worked(replica: string, key: string): string[] {
    const found = this.done.filter((line) => line.startsWith(`${replica} `) && line.endsWith(key));
    return [...new Set(found.map((line) => line.split(" ")[1] as string))].sort();
  }

  /** Names of the informers that make a replica unready. */
  unready(replica: string): string[] {
    const { informers = [] } = this.clusters.get(replica)?.status() ?? {};
    return informers.filter((one) => !isFollowing(one)).map(({ resource }) => resource);
  }

  /** `controller: source` for each source that is waited for. */
  waiting(replica: string): string[] {
    return (this.controllers.get(replica) ?? []).flatMap((controller) => {
      const { name, sources } = controller.status();
      return sources
        .filter(({ state }) => state === "waiting")
        .map((source) => `${name}: ${source.name}`);
    });
  }

  #setup(replica: string): OperatorSetup {
    return ({ cluster, controller }) => {
      this.clusters.set(replica, cluster);
      const greetings = cluster.watch(Greeting);
      const maps = cluster.watch(ConfigMap);
      const broken = this.#case.resource === Greeting ? greetings : maps;
      const make = (name: string, kinds: readonly (typeof maps)[], reads: typeof kinds = kinds) =>
        controller({
          name,
          sources: kinds.map((kind) => kind.source()),
          reconcile: ({ key }) => {
            for (const informer of reads)
              if (informer.get(key) !== undefined && informer === broken)
                this.found.push(`${replica} ${key}`);
            this.done.push(`${replica} ${name} ${key}`);
          },
        });
      return () => {
        const made = [
          make("greeter", [greetings]),
          make("mapper", [maps]),
          make("both", [greetings, maps]),
          make("reader", [greetings], [greetings, maps]),
        ];
        this.controllers.set(replica, made);
        return made;
      };
    };
  }
}

/** The controllers of the operator that do not read a kind. */
const without = ({ resource }: Case): string[] =>
  resource === ConfigMap ? ["greeter"] : ["mapper"];
const ALL = ["both", "greeter", "mapper", "reader"];

describe.each(drawn(CASES, 4))("an operator whose $kind meet: $way", (one) => {
  const { kind, within } = one;

  it.each([[true], [false]])("at its start, with an election: %s", async (elects) => {
    const outage = new Outage(one);
    const { clock, world } = outage;
    await outage.create("old");
    outage.break();
    const replica = await outage.start("a", elects ? {} : { leaderElection: false });
    await clock.step(within);
    expect(outage.worked("a", "old")).toEqual(without(one));
    expect(outage.unready("a")).toEqual([kind]);
    expect([...new Set(outage.waiting("a").map((line) => line.split(": ")[1]))]).toEqual([kind]);
    expect(outage.waiting("a").map((line) => line.split(":")[0])).toContain("both");
    await clock.step(600_000);
    expect(outage.worked("a", "old")).toEqual(without(one));
    const expected = "a: a kind cannot be listed; its readers wait";
    expect(warnings(world)).toEqual(elects ? [expected, expected] : [expected]); // at the start, and of the term
    outage.mend();
    await clock.step(1_000_000 + 120_000);
    expect([outage.worked("a", "old"), outage.unready("a"), outage.waiting("a")]).toEqual([
      ALL,
      [],
      [],
    ]);
    expect(replica.isEnded).toBe(false);
    await world.end();
  });

  it("when the leader changes: all work with the cached objects", async () => {
    const outage = new Outage(one);
    const { clock, world } = outage;
    await outage.create("old");
    const a = await outage.start("a");
    await outage.start("b");
    await clock.step(60_000);
    expect(outage.worked("a", "old")).toEqual(ALL);
    outage.break();
    await clock.step(1_000);
    a.stop.abort("stop");
    await clock.step(within);
    expect(outage.worked("b", "old")).toEqual(ALL);
    expect(warnings(world)).toEqual([
      "b: a kind cannot be listed; going on with its cached objects",
    ]);
    await outage.create("new");
    await clock.step(1_000);
    expect(outage.worked("b", "new")).toContain(without(one)[0]);
    outage.mend();
    await clock.step(120_000);
    expect([outage.worked("b", "new"), outage.unready("b")]).toEqual([ALL, []]);
    await world.end();
  });

  it.each([
    ["the leader changes", {}],
    ["slots move", { shards: { count: 4 } }],
  ])("when %s after it is back: nobody works with its old objects", async (_, options) => {
    const outage = new Outage(one);
    const { clock, world } = outage;
    const gone = ["one", "two", "three", "four"];
    for (const name of ["old", ...gone]) await outage.create(name);
    const a = await outage.start("a", options);
    await outage.start("b", options);
    await clock.step(60_000);
    outage.break();
    await clock.step(LISTS_TRIED);
    for (const name of gone) await outage.remove(name);
    await clock.step(1_000);
    outage.mend();
    Object.assign(outage, { done: [], found: [] });
    a.stop.abort("stop");
    await clock.step(200_000);
    expect(outage.worked("b", "old")).toEqual(ALL);
    expect([...new Set(outage.found)]).toEqual(["b default/old"]);
    await world.end();
  });

  it("later: work goes on, and readiness names the kind", async () => {
    const outage = new Outage(one);
    const { clock, world } = outage;
    await outage.start("a");
    await clock.step(60_000);
    outage.break();
    await clock.step(1_000);
    await outage.create("new");
    await clock.step(1_000);
    expect(outage.worked("a", "new")).toContain(without(one)[0]);
    const isRefusal = one.status === 403 || one.status === 404;
    expect(outage.unready("a")).toEqual(isRefusal ? [kind] : []);
    await clock.step(15 * 60_000 + within);
    expect(outage.unready("a")).toEqual([kind]);
    outage.mend();
    await clock.step(120_000);
    expect([outage.worked("a", "new"), outage.unready("a")]).toEqual([ALL, []]);
    await world.end();
  });
});

const warnings = ({ lines }: OperatorWorld): string[] =>
  lines.map(([, line]) => line).filter((line) => line.includes("a kind cannot be listed"));

it("waits as long as a list takes that goes on", async () => {
  const clock = new FakeClock();
  const world = new OperatorWorld(clock);
  await world.greet("ann");
  const slow = { type: "delay" as const, delay: 80_000 };
  world.api.intercept({ fault: slow, resource: ConfigMap, verbs: ["list"], times: 1 });
  world.start("a", { leaderElection: false });
  await clock.step(79_999);
  expect(world.spans).toEqual([]);
  await clock.step(1);
  expect(world.spans).toHaveLength(1);
  await world.end();
});
