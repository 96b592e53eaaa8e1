import { FakeClock } from "@holdfast/clock/testing";
import type { Fault } from "@holdfast/fake-apiserver";
import type { Informer, ObjectChange } from "@holdfast/kubernetes";
import type { Random } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { expect, inject, it } from "vitest";
import { Greeting, type GreetingObject, greeting, lateBy, World } from "./cluster-kit.ts";

// Informers on the double, with a late watch, other writers, own writes and everything that goes wrong on the
// way. At the end the caches are equal to the server, and nothing is left.

const first = inject("simSeed");
const WORLDS = Number(process.env["SIM_WORLDS"] ?? (inject("isThorough") ? 300 : 2));

const names = ["a", "b", "c", "d"];
const apps = ["x", "x", "y"];
const faults: Fault[] = [
  ...[403, 410, 429, 500, 503, 504].map((status): Fault => ({ type: "status", status })),
  { type: "status", status: 429, retryAfter: 2 },
  { type: "reject" },
  { type: "reset" },
  { type: "reset", after: { bytes: 300 } },
  { type: "drop" },
  { type: "close" },
  { type: "close", after: { lines: 1 } },
  { type: "stall", after: { bytes: 500 } },
  { type: "line", text: '{"type":"ADDED","object":{', after: { lines: 1 } },
  { type: "text", text: "<html>" },
  { type: "delay", delay: 700 },
];

class Simulation {
  readonly #random: Random;
  readonly #world: World;
  readonly #informers: Informer<GreetingObject>[];
  readonly #mirrors: Map<string, string>[] = [];

  constructor(seed: number) {
    const random = seededRandom(seed);
    const world: World = new World({ random, way: lateBy(() => world.clock, random() * 400) });
    this.#random = random;
    this.#world = world;
    this.#informers = [{}, { labels: { app: "x" } }, { namespaces: ["default", "other"] }].map(
      (options) => world.cluster.watch(Greeting, { ...options }),
    );
    for (const informer of this.#informers) this.#mirrors.push(this.#mirror(informer));
  }

  async run(): Promise<void> {
    const { clock, api, cluster, stop } = this.#world;
    await this.#world.run(async () => {
      for (let step = 0; step < 120; step++) {
        await this.#step().catch(() => {}); // a fault met a write
        if (this.#random() < 0.4) await clock.sleep(this.#random() ** 4 * 20_000);
      }
      await api.start();
      api.intercept({ fault: () => undefined });
      this.#endFaults();
      await clock.sleep(300_000);
      await cluster.ready(stop.signal);
      await this.#requireEqual();
    });
  }

  readonly #rules: Disposable[] = [];

  #endFaults(): void {
    for (const rule of this.#rules.splice(0)) rule[Symbol.dispose]();
  }

  #pick<Value>(values: readonly Value[]): Value {
    return values[Math.floor(this.#random() * values.length)] as Value;
  }

  async #step(): Promise<void> {
    const drawn = this.#random();
    if (drawn < 0.3) return void (await this.#write(this.#world.others));
    if (drawn < 0.75) return await this.#ownWrite();
    if (drawn < 0.93) return this.#breakSomething();
    if (drawn < 0.98) return await this.#restart();
    await this.#restore();
  }

  async #write(client: World["others"]): Promise<string> {
    const { metadata, spec } = greeting(this.#pick(names), `${this.#random()}`);
    const labels = { app: this.#pick(apps) };
    const there = await client.find(Greeting, metadata);
    if (there === undefined)
      await client.create(Greeting, { metadata: { ...metadata, labels }, spec });
    else if (this.#random() < 0.4) await client.delete(Greeting, metadata);
    else await client.patch(Greeting, metadata, { metadata: { labels }, spec });
    return metadata.name;
  }

  /** After a write returns, its own cache is not older: nothing else has written meanwhile. */
  async #ownWrite(): Promise<void> {
    const { cluster, others } = this.#world;
    const name = await this.#write(cluster.client);
    const now = await others.find(Greeting, { namespace: "default", name });
    for (const informer of this.#informers) {
      if (!informer.hasSynced) continue;
      const isIn = informer !== this.#informers[1] || now?.metadata.labels?.["app"] === "x";
      const cached = informer.get({ namespace: "default", name });
      expect(cached?.metadata.resourceVersion).toBe(
        isIn ? now?.metadata.resourceVersion : undefined,
      );
    }
  }

  #breakSomething(): void {
    const verbs = this.#pick([["watch"], ["list"], ["list", "watch"]] as const);
    const times = 1 + Math.floor(this.#random() * 4);
    this.#rules.push(
      this.#world.api.intercept({ fault: this.#pick(faults), verbs: [...verbs], times }),
    );
  }

  async #restart(): Promise<void> {
    const { api, clock } = this.#world;
    if (this.#random() < 0.3) return api.compact();
    api.stop();
    await clock.sleep(this.#random() * 10_000);
    await api.start({ history: this.#pick(["kept", "lost"] as const) });
  }

  /** Quiet follows: a restore that is overtaken before the watches are back cannot be seen. */
  async #restore(): Promise<void> {
    const { api, clock } = this.#world;
    const snapshot = api.snapshot();
    for (let at = 0; at < 5; at++) await this.#write(this.#world.others);
    this.#endFaults();
    api.stop();
    api.restore(snapshot);
    // Longer than a delay of the backoff, so that every informer is refused once.
    await clock.sleep(25_000);
    await api.start();
    this.#forget();
    await clock.sleep(150_000);
  }

  /** After a restore versions go back. */
  #forget(): void {
    this.#newest.clear();
  }

  readonly #newest = new Map<string, number>();

  /** The objects that the changes of an informer add up to. Each change fits the one before. */
  #mirror(informer: Informer<GreetingObject>): Map<string, string> {
    const objects = new Map<string, string>();
    const which = this.#mirrors.length;
    const enqueue = ({ type, key, object, old }: ObjectChange<GreetingObject>): void => {
      expect(objects.get(key)).toBe(old?.metadata.resourceVersion);
      const { resourceVersion } = object.metadata;
      const id = `${which} ${key}`;
      if (type === "deleted") objects.delete(key);
      else {
        objects.set(key, resourceVersion);
        expect(Number(resourceVersion)).toBeGreaterThan(this.#newest.get(id) ?? 0);
        this.#newest.set(id, Number(resourceVersion));
      }
    };
    const failed = (error: unknown): never => expect.fail(String(error));
    informer.changes().start({ enqueue, failed, clock: new FakeClock() }, this.#world.stop.signal);
    return objects;
  }

  async #requireEqual(): Promise<void> {
    const there = new Map<string, GreetingObject>();
    for await (const object of this.#world.others.list(Greeting))
      there.set(`default/${object.metadata.name}`, object);
    for (const [which, informer] of this.#informers.entries()) {
      const expected = [...there]
        .filter(([, { metadata }]) => which !== 1 || metadata?.labels?.["app"] === "x")
        .map(([key, { metadata }]) => `${key} ${metadata?.resourceVersion}`)
        .sort();
      const cached = informer
        .list()
        .map(({ metadata }) => `default/${metadata.name} ${metadata.resourceVersion}`);
      expect(cached.sort()).toEqual(expected);
      const told = [...(this.#mirrors[which] ?? [])].map(([key, version]) => `${key} ${version}`);
      expect(told.sort()).toEqual(expected);
    }
  }
}

it(`informers are equal to the server after ${WORLDS} worlds of faults`, {
  timeout: 600_000,
}, async () => {
  for (let seed = first; seed < first + WORLDS; seed++) {
    try {
      await new Simulation(seed).run();
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
});
