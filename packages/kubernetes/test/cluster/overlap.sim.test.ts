import { FakeClock } from "@holdfast/clock/testing";
import { Controller, ExponentialLimiter, silentLogger } from "@holdfast/controller";
import type { ObjectChange } from "@holdfast/kubernetes";
import type { Random } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { expect, inject, it } from "vitest";
import type { ObjectEvent } from "../../src/cache/store.ts";
import { changeSource, keySource } from "../../src/cluster/informer-source.ts";
import { greeting, list, storeOf } from "../cache/cache-kit.ts";

// Random schedules of events and own writes around reconciles that take random times, fail or come back.

const seed = inject("simSeed");
const SCHEDULES = inject("isThorough") ? 100_000 : 2_000;

class Schedules {
  readonly clock = new FakeClock();
  readonly #random: Random;
  readonly #store = storeOf();
  readonly #uids = new Map<string, number>();
  readonly #working = new Set<string>();
  /** The version that the latest reconcile of a key has seen; undefined for none. */
  readonly #seen = new Map<string, string | undefined>();
  readonly counts = { overlaps: 0, missed: 0, reconciles: 0, wakesDuringWork: 0 };
  #version = 1;

  constructor(random: Random) {
    this.#random = random;
    list(this.#store, 1);
    this.#store.table.subscribe(({ key }: ObjectChange) => {
      if (this.#working.has(key)) this.counts.wakesDuringWork++;
    });
  }

  async run(schedules: number): Promise<void> {
    const { clock } = this;
    const stop = new AbortController();
    const controller = new Controller({
      name: "greeter",
      workers: 3,
      clock,
      logger: silentLogger,
      limiter: new ExponentialLimiter({ duration: 1, cap: 4, clock }),
      sources: [
        keySource(
          changeSource("greetings", [this.#store.table], async () => {}),
          {},
        ),
      ],
      reconcile: ({ key }) => this.#reconcile(key),
    });
    const running = controller.run(stop.signal);
    for (let schedule = 0; schedule < schedules; schedule++) {
      for (let events = 1 + this.#draw(6); events > 0; events--) {
        this.#change();
        this.#store.told.length = 0;
        if (this.#random() < 0.6) await clock.sleep(this.#draw(4));
      }
      const isBusy = (): boolean => {
        const { size, delayed, inFlight } = controller.status().queue;
        return size + delayed + inFlight > 0;
      };
      while (isBusy()) await clock.sleep(5);
      for (const key of this.#seen.keys())
        if (this.#seen.get(key) !== this.#versionOf(key)) this.counts.missed++;
    }
    stop.abort();
    await running;
  }

  async #reconcile(key: string): Promise<{ requeueAfter: number } | undefined> {
    if (this.#working.has(key)) this.counts.overlaps++;
    this.counts.reconciles++;
    this.#working.add(key);
    this.#seen.set(key, this.#versionOf(key));
    try {
      const drawn = this.#random();
      if (drawn < 0.7) await this.clock.sleep(this.#draw(5));
      if (drawn < 0.1) this.#change();
      if (drawn > 0.4 && drawn < 0.5) throw new Error("flaky");
      return drawn > 0.9 ? { requeueAfter: this.#draw(3) } : undefined;
    } finally {
      this.#working.delete(key);
    }
  }

  /** An event of the watch, or a write of this process. */
  #change(): void {
    const name = `g${this.#draw(3)}`;
    const key = `default/${name}`;
    const isThere = this.#versionOf(key) !== undefined;
    const isGone = isThere && this.#random() < 0.2;
    if (!isThere) this.#uids.set(name, this.#version);
    const object = greeting(name, ++this.#version, { uid: `u${this.#uids.get(name)}` });
    if (isThere && !isGone && this.#random() < 0.3) this.#store.write({ type: "stored", object });
    const type: ObjectEvent["type"] = isGone ? "DELETED" : isThere ? "MODIFIED" : "ADDED";
    this.#store.apply({ type, object });
  }

  #versionOf(key: string): string | undefined {
    return this.#store.table.objects.get(key)?.metadata.resourceVersion;
  }

  #draw(below: number): number {
    return Math.floor(this.#random() * below);
  }
}

it(`no key is reconciled concurrently in ${SCHEDULES} schedules, and each reaches its last version`, {
  timeout: 600_000,
}, async () => {
  const schedules = new Schedules(seededRandom(seed));
  await schedules.clock.run(() => schedules.run(SCHEDULES), { turns: 0 });
  const { overlaps, missed, reconciles, wakesDuringWork } = schedules.counts;
  expect([overlaps, missed]).toEqual([0, 0]);
  expect(reconciles).toBeGreaterThan(2 * SCHEDULES);
  expect(wakesDuringWork).toBeGreaterThan(SCHEDULES / 10);
  expect(schedules.clock.waiters()).toBe(0);
});
