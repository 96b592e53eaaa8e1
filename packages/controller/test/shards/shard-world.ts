import { onAbort } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { MemoryLock, Shards, silentLogger } from "@holdfast/controller";
import type { Random } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { SkewedClock } from "../../../../test/skewed-clock.ts";
import { RemoteListedLock, RemoteLock } from "../election/remote-lock.ts";

const LEASE_DURATION = 5_000;
const RENEW_DEADLINE = 4_000;
const RETRY_PERIOD = 800;
/** Clocks run at most so much too fast or too slow. */
const SKEW = 0.1;
const LONGEST_DRAIN = 2_000;
const COUNTS = [1, 3, 8, 16] as const;

/** What a history came to. */
export interface ShardVerdict {
  readonly faults: readonly string[];
  readonly terms: number;
  readonly waiters: number;
}

class Replica {
  readonly clock: SkewedClock;
  readonly shards: Shards;
  readonly stop = new AbortController();
  readonly ended: Promise<void>;
  /** Slots that it works on, under leases that are not lost. */
  readonly works = new Set<number>();

  constructor(identity: string, world: ShardWorld) {
    const { random, count, Lock } = world;
    this.clock = new SkewedClock(world.real, { rate: 1 - SKEW + 2 * SKEW * random(), offset: 0 });
    this.shards = new Shards({
      count,
      identity,
      lockOf: (name) => new Lock(world.lockOf(name), this.clock, () => world.travel()),
      clock: this.clock,
      random,
      leaseDuration: LEASE_DURATION,
      renewDeadline: RENEW_DEADLINE,
      retryPeriod: RETRY_PERIOD,
      onError: () => {},
      logger: silentLogger,
      lead: async ({ slot, token, signal, lost }) => {
        world.began(slot, token);
        this.works.add(slot);
        onAbort(lost, () => this.works.delete(slot));
        await this.clock.sleep(Number.POSITIVE_INFINITY, { signal }).catch(() => {});
        const drain = random() * LONGEST_DRAIN;
        await this.clock.sleep(drain, { signal: lost }).catch(() => {});
        this.works.delete(slot);
      },
    });
    this.ended = this.shards.run(this.stop.signal);
  }
}

/** Replicas of the real class that come, go, crash and stand still, on one fake clock. */
export class ShardWorld {
  readonly real = new FakeClock();
  readonly random: Random;
  readonly count: number;
  /** Half of the worlds have a store that reads all locks in one request. */
  readonly Lock: typeof RemoteLock;
  readonly #locks = new Map<string, MemoryLock>();
  readonly #tokens = new Map<number, number>();
  readonly #faults: string[] = [];
  #replicas: Replica[] = [];
  readonly #gone: Replica[] = [];
  #born = 0;
  #lost = 0;
  terms = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    this.count = COUNTS[Math.floor(this.random() * COUNTS.length)] ?? 1;
    this.Lock = seed % 2 === 0 ? RemoteListedLock : RemoteLock;
  }

  lockOf(name: string): MemoryLock {
    const lock = this.#locks.get(name) ?? new MemoryLock();
    this.#locks.set(name, lock);
    return lock;
  }

  async travel(): Promise<void> {
    if (this.random() < this.#lost) await new Promise(() => {});
    await this.real.sleep(this.random() * 20);
    this.#judge();
  }

  began(slot: number, token: number): void {
    const latest = this.#tokens.get(slot) ?? -1;
    if (token <= latest) this.#faults.push(`slot ${slot}: token ${token} after ${latest}`);
    this.#tokens.set(slot, token);
    this.terms++;
  }

  async run(): Promise<ShardVerdict> {
    return await this.real.run(
      async () => {
        this.#join();
        for (let change = 0; change < 6; change++) {
          await this.#change();
          this.#lost = this.random() < 0.3 ? 0.1 : 0;
          await this.#watch(this.random() * 10_000);
        }
        this.#lost = 0;
        await this.#watch(120_000);
        this.#balanced();
        const { terms } = this;
        await this.#watch(30_000);
        if (this.terms > terms) this.#faults.push("slots moved although nobody came or went");
        for (const { stop } of this.#replicas) stop.abort();
        const all = [...this.#replicas, ...this.#gone.filter(({ clock }) => !clock.isPaused)];
        await Promise.all(all.map(({ ended }) => ended));
        const waiters = all.reduce((sum, { clock }) => sum + clock.armed, 0);
        return { faults: this.#faults, terms: this.terms, waiters };
      },
      { turns: 0 },
    );
  }

  async #change(): Promise<void> {
    const chance = this.random();
    const [victim] = this.#replicas.splice(Math.floor(this.random() * this.#replicas.length), 1);
    if (victim === undefined || chance < 0.4) {
      if (victim !== undefined) this.#replicas.push(victim);
      this.#join();
    } else if (chance < 0.6) {
      victim.clock.die();
      this.#gone.push(victim);
    } else if (chance < 0.8) {
      victim.stop.abort();
      this.#gone.push(victim);
    } else {
      this.#replicas.push(victim);
      victim.clock.pause();
      this.real.afterFunc(this.random() * 12_000, () => victim.clock.resume((items) => items));
    }
    if (this.#replicas.length === 0) this.#join();
  }

  #join(): void {
    this.#replicas.push(new Replica(`replica-${++this.#born}`, this));
  }

  /** At most one replica that is not paused works on a slot. */
  #judge(): void {
    const workers = new Map<number, number>();
    for (const { works, clock } of [...this.#replicas, ...this.#gone])
      if (!clock.isPaused)
        for (const slot of works) workers.set(slot, (workers.get(slot) ?? 0) + 1);
    for (const [slot, many] of workers)
      if (many > 1) this.#faults.push(`${many} replicas work on slot ${slot}`);
  }

  #balanced(): void {
    const shares = this.#replicas.map(({ shards }) => shards.status().held.length);
    const sum = shares.reduce((total, share) => total + share, 0);
    if (sum !== this.count) this.#faults.push(`${sum} of ${this.count} slots have a holder`);
    if (Math.max(...shares) - Math.min(...shares) > 1)
      this.#faults.push(`shares of ${this.count} slots: ${shares.join()}`);
  }

  async #watch(duration: number): Promise<void> {
    for (let left = duration; left > 0; left -= 200) {
      await this.real.sleep(Math.min(200, left));
      this.#judge();
    }
  }
}
