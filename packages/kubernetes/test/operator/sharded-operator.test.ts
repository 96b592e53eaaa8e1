import { FakeClock } from "@holdfast/clock/testing";
import { isLeadershipLostError, type ReconcileRequest, slotOf } from "@holdfast/controller";
import type { Informer, OperatorContext, OperatorOptions } from "@holdfast/kubernetes";
import { beforeEach, describe, expect, it } from "vitest";
import {
  ConfigMap,
  Greeting,
  type GreetingObject,
  Lease,
  OperatorWorld,
  type Replica,
} from "./operator-world.ts";

const COUNT = 8;
const NAMES = Array.from({ length: 24 }, (_, index) => `guest-${index}`);
const KEYS = NAMES.map((name) => `default/${name}`).sort();

let clock: FakeClock;
let world: OperatorWorld;

interface Work {
  readonly who: string;
  readonly key: string;
  readonly text: string | undefined;
  readonly token: number;
  readonly from: number;
  to: number;
}
let works: Work[];

beforeEach(() => {
  clock = new FakeClock();
  world = new OperatorWorld(clock);
  works = [];
});

/** A replica whose reconciles take 200 ms and write a ConfigMap. */
function start(who: string, options: Partial<OperatorOptions> = {}): Replica {
  const setup = greeter(async ({ key, signal, leadership }, { greetings, client }) => {
    const text = greetings.get(key)?.spec.name;
    const { token = -1 } = leadership ?? {};
    const work = { who, key, text, token, from: world.now, to: Number.POSITIVE_INFINITY };
    works.push(work);
    try {
      await clock.sleep(200, { signal });
      const child = { metadata: { namespace: "default", name: nameOf(key) }, data: { text } };
      await client.apply(ConfigMap, child as never, { signal });
    } finally {
      work.to = world.now;
    }
  });
  return world.start(who, { shards: { count: COUNT }, setup, ...options });
}

/** An operator that reconciles Greetings, many at a time. */
function greeter(
  reconcile: (
    request: ReconcileRequest,
    context: Pick<OperatorContext, "client"> & { readonly greetings: Informer<GreetingObject> },
  ) => Promise<void>,
): OperatorOptions["setup"] {
  return ({ cluster, client, controller }) => {
    const greetings = cluster.watch(Greeting);
    return () => [
      controller({
        name: "greeter",
        sources: [greetings.source()],
        workers: NAMES.length,
        reconcile: (request) => reconcile(request, { greetings, client }),
      }),
    ];
  };
}

const nameOf = (key: string): string => key.split("/")[1] ?? "";

const keysOf = (who: string, from = 0): string[] =>
  [
    ...new Set(works.filter((one) => one.who === who && one.from >= from).map(({ key }) => key)),
  ].sort();

/** Pairs of replicas inside one key at one instant. */
function overlaps(): string[] {
  return works.flatMap((a, index) =>
    works
      .slice(index + 1)
      .filter((b) => a.key === b.key && a.who !== b.who && a.from < b.to && b.from < a.to)
      .map((b) => `${a.key}: ${a.who} and ${b.who}`),
  );
}

async function slotsOf(who: string): Promise<number[]> {
  const slots: number[] = [];
  for await (const { metadata, ...lease } of world.client.list(Lease, { namespace: "greeter" })) {
    const { spec } = lease as { spec?: { holderIdentity?: string } };
    if (metadata.name.startsWith("greeter-slot-") && spec?.holderIdentity === who)
      slots.push(Number(metadata.name.split("-").at(-1)));
  }
  return slots;
}

describe("runOperator with shards", () => {
  it("divides the keys over replicas that come and go: no key in two, none lost", async () => {
    for (const name of NAMES) await world.greet(name);
    start("a");
    await clock.step(10_000);
    expect(keysOf("a")).toEqual(KEYS);
    start("b");
    const c = start("c");
    await clock.step(60_000);
    const shares = await Promise.all(["a", "b", "c"].map(slotsOf));
    expect(shares.map(({ length }) => length).sort()).toEqual([2, 3, 3]);

    let from = world.now;
    for (const name of NAMES)
      await world.client.patch(Greeting, `default/${name}`, { spec: { name: "again" } });
    await clock.step(5_000);
    for (const [index, who] of ["a", "b", "c"].entries())
      expect(keysOf(who, from)).toEqual(
        KEYS.filter((key) => shares[index]?.includes(slotOf(key, COUNT))),
      );

    from = world.now;
    c.transport.hangs = () => true;
    await clock.step(60_000);
    expect(keysOf("c", from)).toEqual([]);
    const left = [...keysOf("a", from), ...keysOf("b", from)].sort();
    expect(left).toEqual(KEYS.filter((key) => shares[2]?.includes(slotOf(key, COUNT))));
    expect(overlaps()).toEqual([]);
    c.transport.hangs = () => false;
    await clock.step(60_000);
    expect((await slotsOf("c")).length).toBeGreaterThanOrEqual(2);
    for (const key of KEYS) {
      const tokens = works.filter((one) => one.key === key).map(({ token }) => token);
      expect(tokens).toEqual([...tokens].sort((a, b) => a - b));
    }
    expect(overlaps()).toEqual([]);
    await world.end();
  });

  it("begins the keys of a slot that comes after its caches have what the last holder wrote", async () => {
    for (const name of NAMES) await world.greet(name);
    const b = start("b");
    await clock.step(5_000);
    const a = start("a");
    await clock.step(1_000);
    a.transport.isDeaf = true;
    for (const name of NAMES)
      await world.client.patch(Greeting, `default/${name}`, { spec: { name: "new" } });
    const from = world.now;
    await clock.step(500);
    b.stop.abort();
    await clock.step(30_000);
    const seen = works.filter((one) => one.who === "a" && one.from > from);
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.map(({ text }) => text).filter((text) => text !== "new")).toEqual([]);
    a.transport.isDeaf = false;
    await world.end();
  });

  it("refuses writes of a reconcile whose slot is lost, and of no other", async () => {
    const results = new Map<string, unknown>();
    let isLate = false;
    const a = start("a", {
      setup: greeter(async ({ key }, { client }) => {
        if (isLate) return;
        await clock.sleep(30_000); // ignores its signal
        const data = { metadata: { namespace: "default", name: nameOf(key) } };
        results.set(key, await client.create(ConfigMap, data).catch((error) => error));
      }),
    });
    for (const name of NAMES) await world.greet(name);
    await clock.step(5_000);
    isLate = true;
    a.transport.hangs = ({ path }) => path.includes("greeter-slot-3");
    await clock.step(28_000);
    expect(results.size).toBe(NAMES.length);
    for (const [key, result] of results)
      expect([key, isLeadershipLostError(result)]).toEqual([key, slotOf(key, COUNT) === 3]);
    a.transport.hangs = () => false;
    await world.end();
  });

  it("gives its slots back when it stops, after the keys in flight", async () => {
    for (const name of NAMES) await world.greet(name);
    const a = start("a");
    await clock.step(1_100);
    expect(works.length).toBeGreaterThan(0);
    a.stop.abort();
    await clock.step(1_000);
    expect(a.isEnded).toBe(true);
    expect(works.every(({ to }) => to < Number.POSITIVE_INFINITY)).toBe(true);
    expect(await slotsOf("a")).toEqual([]);
    await world.end();
  });

  it("stops while its first slots wait for the caches", async () => {
    await world.greet("ann");
    const a = start("a");
    await clock.step(1);
    a.transport.hangs = ({ path }) => path.includes("greetings");
    await clock.step(10_000);
    expect((await slotsOf("a")).length).toBe(COUNT);
    expect(works).toEqual([]);
    a.stop.abort();
    await clock.step(1_000);
    expect([a.isEnded, a.error]).toEqual([true, undefined]);
    await world.end();
  });

  it.each([
    [{ count: 0 }, "RangeError: options.shards.count must be a whole number of at least 1, got 0"],
    [
      { count: 1.5 },
      "RangeError: options.shards.count must be a whole number of at least 1, got 1.5",
    ],
    [
      { count: Number.NaN },
      "RangeError: options.shards.count must be a whole number of at least 1, got NaN",
    ],
    [
      { count: 1_025 },
      "RangeError: options.shards.count must be a number from 1 to 1024, got 1025",
    ],
    [{ name: "" }, 'RangeError: options.shards.name must be a non-empty string, got ""'],
    [{ name: 5 }, "TypeError: options.shards.name must be a string, got 5"],
    [
      { by: "namespace" },
      "TypeError: options.shards.by is not an option of runOperator: it has count, leaseDuration, renewDeadline, retryPeriod, namespace, name",
    ],
  ])("refuses %o before the setup is called", async (shards, message) => {
    let setups = 0;
    const setup = () => {
      setups++;
      return () => [];
    };
    const replica = start("a", { shards: shards as object, setup });
    await clock.step(0);
    expect([String(replica.error), setups]).toEqual([message, 0]);
    await world.end();
  });

  it("works on any number of slots, also one that is no power of two", async () => {
    for (const name of NAMES) await world.greet(name);
    for (const who of ["a", "b"]) start(who, { shards: { count: 7 } });
    await clock.step(60_000);
    const shares = await Promise.all(["a", "b"].map(slotsOf));
    expect(shares.map(({ length }) => length).sort()).toEqual([3, 4]);
    expect([...new Set([...keysOf("a"), ...keysOf("b")])].sort()).toEqual(KEYS);
    await world.end();
  });

  it("refuses another count than that of the others, and an election beside it", async () => {
    start("a");
    await clock.step(1_000);
    const b = start("b", { shards: { count: 16 } });
    await clock.step(10_000);
    expect(String(b.error)).toContain(
      "options.count must be 8, as in the replicas that run, got 16",
    );
    const both = start("d", { shards: {}, leaderElection: {} });
    await clock.step(0);
    expect(String(both.error)).toBe(
      "RangeError: options.leaderElection must be undefined or false beside options.shards",
    );
    await world.end();
  });
});
