import { onAbort } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { LeaderElector, MemoryLock, silentLogger } from "@holdfast/controller";
import type { Random } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { SkewedClock } from "../../../../test/skewed-clock.ts";
import { RemoteLock } from "./remote-lock.ts";

/** What a simulated network may do to a request, each with its probability. */
interface Weather {
  /** The request never arrives, or the reply is lost. */
  readonly lost: number;
  /** It takes up to this long each way, in milliseconds. */
  readonly latency: number;
  /** The request or reply takes up to this many times as long. */
  readonly late: number;
}

const STORM: Weather = { lost: 0.15, latency: 300, late: 0.1 };
const CALM: Weather = { lost: 0, latency: 20, late: 0 };

const LEASE_DURATION = 5_000;
const RENEW_DEADLINE = 4_000;
const RETRY_PERIOD = 800;
/** Longer than a lease. */
const LONGEST_DRAIN = 12_000;
/** Clocks run at most so much too fast or too slow; 4_000 / 0.9 is just less than 5_000 / 1.1. */
const SKEW = 0.1;

/**
 * How long a lease may stay without a leader when the network is calm: the record is seen one wait
 * after it was written, expires on the slowest clock, and is taken one wait later.
 */
const WAIT = RETRY_PERIOD * 2.2 + 4 * CALM.latency;
export const LONGEST_GAP = (2 * WAIT + LEASE_DURATION) / (1 - SKEW);

/** One process with an elector. */
class Candidate {
  readonly clock: SkewedClock;
  readonly elector: LeaderElector;
  readonly stop = new AbortController();
  readonly ended: Promise<void>;
  /** Works under a lease that is not lost. */
  works = false;

  constructor(identity: string, world: ElectionWorld) {
    const { random } = world;
    this.clock = new SkewedClock(world.real, {
      rate: 1 - SKEW + 2 * SKEW * random(),
      offset: (random() - 0.5) * 1e9,
    });
    this.elector = new LeaderElector({
      lock: new RemoteLock(world.lock, this.clock, () => world.travel()),
      identity,
      clock: this.clock,
      random,
      leaseDuration: LEASE_DURATION,
      renewDeadline: RENEW_DEADLINE,
      retryPeriod: RETRY_PERIOD,
      onError: () => {},
      logger: silentLogger,
      lead: async ({ token, signal, lost }) => {
        world.began(token);
        this.works = true;
        onAbort(lost, () => {
          this.works = false;
        });
        const lasts = random() < 0.2 ? random() * 20_000 : Number.POSITIVE_INFINITY;
        await this.clock.sleep(lasts, { signal }).catch(() => {});
        if (random() < 0.5)
          await this.clock.sleep(random() * LONGEST_DRAIN, { signal: lost }).catch(() => {});
        this.works = false;
        if (random() < 0.3) await this.clock.sleep(random() * 5_000);
        world.judge();
      },
    });
    this.ended = this.elector.run(this.stop.signal);
  }
}

/** What a run came to. */
export interface Verdict {
  readonly terms: number;
  /** The longest time without a leader while the network was calm and nobody was disturbed. */
  readonly longestGap: number;
  /** The timers of those who have stopped. */
  readonly waiters: number;
  readonly faults: readonly string[];
}

/** Some candidates, their clocks, their network and a judge who sees real time. */
export class ElectionWorld {
  readonly real = new FakeClock();
  readonly lock: MemoryLock = new MemoryLock();
  readonly random: Random;
  readonly #candidates: Candidate[] = [];
  /** Those that were stopped: they may still drain. */
  readonly #stopped: Candidate[] = [];
  readonly #faults: string[] = [];
  #weather = CALM;
  #born = 0;
  #tokens: number[] = [];

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  /** A request or a reply on its way. One that is lost never comes. */
  async travel(): Promise<void> {
    const { lost, latency, late } = this.#weather;
    if (this.random() < lost) await new Promise(() => {});
    const factor = this.random() < late ? 60 * this.random() : 1;
    await this.real.sleep(this.random() * latency * factor);
    this.judge();
  }

  began(token: number): void {
    const latest = this.#tokens.at(-1) ?? -1;
    if (token <= latest) this.#fault(`token ${token} after ${latest}`);
    this.#tokens.push(token);
    this.judge();
  }

  /** At most one thinks that it leads, paused or not, and at most one that is not paused works. */
  judge(): void {
    const alive = [...this.#candidates, ...this.#stopped];
    const leaders = alive.filter(({ elector }) => elector.isLeader).length;
    const workers = alive.filter(({ works, clock }) => works && !clock.isPaused).length;
    if (leaders > 1) this.#fault(`${leaders} leaders`);
    if (workers > 1) this.#fault(`${workers} at work`);
  }

  async run(): Promise<Verdict> {
    return await this.real.run(
      async () => {
        const count = 3 + Math.floor(this.random() * 3);
        for (let i = 0; i < count; i++) this.#add();
        for (let round = 0; round < 3; round++) {
          await this.#storm();
          await this.#settle();
        }
        const longestGap = await this.#crashes();
        for (const { stop } of this.#candidates) stop.abort();
        const all = [...this.#candidates, ...this.#stopped];
        await Promise.all(all.map(({ ended }) => ended));
        const waiters = all.reduce((sum, { clock }) => sum + clock.armed, 0);
        return { terms: this.#tokens.length, longestGap, waiters, faults: this.#faults };
      },
      { turns: 0 },
    );
  }

  /** Everything goes wrong: requests, pauses, crashes, resignations. */
  async #storm(): Promise<void> {
    this.#weather = STORM;
    for (let i = 0; i < 10; i++) {
      await this.#watch(this.random() * 3_000);
      const victim = this.#pick();
      const chance = this.random();
      if (chance < 0.4) this.#pause(victim);
      else if (chance < 0.5) this.#crash(victim);
      else if (chance < 0.6) void victim.elector.resign();
      else if (chance < 0.75) this.#replace(victim);
    }
  }

  /** The network recovers, and so do all who were paused. */
  async #settle(): Promise<void> {
    this.#weather = CALM;
    await this.#watch(12_000);
  }

  /** The leader crashes while nothing else goes wrong. */
  async #crashes(): Promise<number> {
    let longest = 0;
    for (let i = 0; i < 2; i++) {
      await this.#watch(LONGEST_GAP);
      const leader = this.#candidates.find(({ elector }) => elector.isLeader);
      if (leader === undefined) continue; // It has just ended its term by itself.
      this.#crash(leader);
      const start = this.real.monotonic();
      while (!this.#candidates.some(({ elector }) => elector.isLeader)) {
        await this.#watch(50);
        if (this.real.monotonic() - start > 10 * LONGEST_GAP) return Number.POSITIVE_INFINITY;
      }
      longest = Math.max(longest, this.real.monotonic() - start);
    }
    return longest;
  }

  async #watch(duration: number): Promise<void> {
    for (let left = duration; left > 0; left -= 200) {
      await this.real.sleep(Math.min(200, left));
      this.judge();
    }
  }

  #add(): void {
    this.#candidates.push(new Candidate(`${++this.#born}`, this));
  }

  #pick(): Candidate {
    const victim = this.#candidates[Math.floor(this.random() * this.#candidates.length)];
    if (victim === undefined) throw new Error("nobody is left");
    return victim;
  }

  #pause({ clock }: Candidate): void {
    if (clock.isPaused) return;
    clock.pause();
    const shuffle = <Item>(items: Item[]): Item[] =>
      items
        .map((item) => ({ item, order: this.random() }))
        .sort((a, b) => a.order - b.order)
        .map(({ item }) => item);
    this.real.afterFunc(this.random() * 12_000, () => clock.resume(shuffle));
  }

  /** A process that never goes on; another one takes its place. */
  #crash(victim: Candidate): void {
    victim.clock.die();
    this.#candidates.splice(this.#candidates.indexOf(victim), 1);
    this.#add();
  }

  /** A process that is stopped in order; another one takes its place meanwhile. */
  #replace(victim: Candidate): void {
    this.#candidates.splice(this.#candidates.indexOf(victim), 1);
    this.#stopped.push(victim);
    victim.stop.abort();
    this.#add();
  }

  #fault(text: string): void {
    this.#faults.push(`${this.real.monotonic()}: ${text}`);
  }
}
