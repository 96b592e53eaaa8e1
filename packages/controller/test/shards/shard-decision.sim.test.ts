import type { Random } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { expect, inject, it } from "vitest";
import { decideShards } from "../../src/shards/shard-decision.ts";

/** `HISTORIES=10000` for another number. */
const HISTORIES = Number(process.env["HISTORIES"] ?? (inject("isThorough") ? 10_000 : 50));
/** Histories with many slots take longest. */
const COUNTS = [1, 3, 3, 8, 8, 8, 16, 16, 64] as const;
const LEASE = 15_000;
const PERIOD = 2_000;
/** Two looks are at most so far apart. */
const LONGEST_PERIOD = 1.2 * PERIOD;
const LONGEST_DRAIN = 5_000;
/** A change is over when nothing has moved for so long: longer than a lease, and what follows its end. */
const STILL = 40_000;
/** It is over by then. */
const LONGEST_CHANGE = 600_000;

/** A lease that counts until an instant. */
interface Held {
  readonly by: string;
  until: number;
}

interface Slot {
  holder: Held | undefined;
  wish: Held | undefined;
  /** Instant at which the work on it ended. */
  idleSince: number;
}

interface Replica {
  readonly identity: string;
  nextLook: number;
  frozenUntil: number;
  isStopping: boolean;
  wanted: Slot | undefined;
  /** When the work of a slot that is given up ends. */
  readonly giving: Map<Slot, number>;
  readonly freeSince: Map<Slot, number>;
}

/** Replicas as records and decisions alone: requests take no time, and none is lost. */
class DecisionWorld {
  readonly faults = new Set<string>();
  readonly count: number;
  moves = 0;
  longestFree = 0;
  readonly #random: Random;
  readonly #slots: readonly Slot[];
  #replicas: Replica[] = [];
  #now = 0;
  /** When something moved for the last time. */
  #changedAt = 0;
  #born = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.count = COUNTS[Math.floor(this.#random() * COUNTS.length)] ?? 1;
    this.#slots = Array.from({ length: this.count }, () => ({
      holder: undefined,
      wish: undefined,
      idleSince: 0,
    }));
  }

  run(): void {
    this.#join();
    this.#settle();
    for (let change = 0; change < 6; change++) {
      const before = this.#replicas.length;
      this.#change();
      const { moves } = this;
      this.#settle();
      const fewest = Math.min(before, this.#replicas.length);
      const limit = 2 * Math.ceil(this.count / fewest);
      // A replica without a slot is not seen by the others, who take one more then, and give it up.
      const most = Math.max(before, this.#replicas.length);
      const isOne = most - fewest === 1 && most <= this.count;
      if (isOne && this.moves - moves > limit)
        this.faults.add(`${this.moves - moves} moves after one change, limit ${limit}`);
    }
  }

  #change(): void {
    const kind = this.#random();
    const victim = this.#replicas[Math.floor(this.#random() * this.#replicas.length)];
    if (victim === undefined || (kind < 0.4 && this.#replicas.length < 7)) {
      this.#join();
      if (this.#random() < 0.3) this.#join();
    } else if (kind < 0.8 && this.#replicas.length > 1) {
      // A crash leaves all leases, a stop drains and releases.
      if (kind < 0.6) this.#crash(victim);
      else this.#stop(victim);
    } else if (this.#replicas.length > 1) victim.frozenUntil = this.#now + this.#random() * 40_000;
  }

  #join(): void {
    const nextLook = this.#now + this.#random() * PERIOD;
    const own = { nextLook, frozenUntil: 0, isStopping: false, wanted: undefined };
    const maps = { giving: new Map(), freeSince: new Map() };
    this.#replicas.push({ identity: `replica-${++this.#born}`, ...own, ...maps });
  }

  #crash(victim: Replica): void {
    this.#replicas = this.#replicas.filter((one) => one !== victim);
    for (const slot of this.#slotsOf(victim)) slot.idleSince = this.#now;
  }

  #stop(victim: Replica): void {
    victim.isStopping = true;
    for (const slot of this.#slotsOf(victim)) this.#give(victim, slot);
  }

  /** Time goes on until nothing of a change is left, and shares are even. */
  #settle(): void {
    const begun = this.#now;
    const thawed = Math.max(...this.#replicas.map(({ frozenUntil }) => frozenUntil));
    this.#changedAt = Math.max(begun, thawed);
    while (this.#now - this.#changedAt < STILL) {
      const next = this.#replicas.reduce((a, b) => (a.nextLook <= b.nextLook ? a : b));
      this.#now = next.nextLook;
      next.nextLook += PERIOD + this.#random() * (LONGEST_PERIOD - PERIOD);
      if (next.frozenUntil <= this.#now) this.#look(next);
      if (this.#now - begun > LONGEST_CHANGE) {
        this.faults.add("slots move for ever");
        return;
      }
    }
    const shares = this.#replicas.map((one) => this.#slotsOf(one).length);
    if (shares.reduce((a, b) => a + b, 0) !== this.count) this.faults.add("a slot is free");
    if (Math.max(...shares) - Math.min(...shares) > 1) this.faults.add(`shares ${shares.join()}`);
  }

  #look(replica: Replica): void {
    const { identity, giving, freeSince } = replica;
    const now = this.#now;
    for (const slot of this.#slots) {
      if (slot.holder !== undefined && slot.holder.until <= now) {
        slot.idleSince = Math.max(slot.idleSince, slot.holder.until - LEASE);
        slot.holder = undefined;
      }
      if (slot.wish !== undefined && slot.wish.until <= now) slot.wish = undefined;
      if (slot.holder?.by === identity) slot.holder.until = now + LEASE;
    }
    for (const [slot, end] of giving) {
      if (slot.holder?.by !== identity) giving.delete(slot);
      else if (end <= now) {
        giving.delete(slot);
        slot.holder = undefined;
        slot.idleSince = now;
      }
    }
    if (replica.isStopping) {
      this.#ask(replica, undefined);
      if (giving.size === 0) this.#replicas = this.#replicas.filter((one) => one !== replica);
      return;
    }
    if (replica.wanted?.wish?.by === identity) replica.wanted.wish.until = now + LEASE;
    else replica.wanted = undefined;
    for (const slot of this.#slots)
      if (slot.holder !== undefined) freeSince.delete(slot);
      else if (!freeSince.has(slot)) freeSince.set(slot, now);
    const { take, give, ask } = decideShards({
      identity,
      slots: this.#slots.map((slot) => ({
        holder: slot.holder?.by,
        wanter: slot.wish?.by,
        freeFor: now - (freeSince.get(slot) ?? now),
      })),
      isGiving: giving.size > 0,
      patience: 2 * PERIOD,
    });
    if (give !== undefined) this.#give(replica, this.#slots[give] as Slot);
    for (const number of take) this.#take(replica, this.#slots[number] as Slot);
    this.#ask(replica, ask === undefined ? undefined : this.#slots[ask]);
  }

  #take(replica: Replica, slot: Slot): void {
    if (slot.holder !== undefined) this.faults.add(`a slot of ${slot.holder.by} was taken`);
    this.longestFree = Math.max(this.longestFree, this.#now - slot.idleSince);
    slot.holder = { by: replica.identity, until: this.#now + LEASE };
    this.#changedAt = this.#now;
    this.moves++;
  }

  #give(replica: Replica, slot: Slot): void {
    if (slot.holder?.by !== replica.identity) this.faults.add("a slot of another was given up");
    this.#changedAt = this.#now;
    replica.giving.set(slot, this.#now + this.#random() * LONGEST_DRAIN);
  }

  #ask(replica: Replica, slot: Slot | undefined): void {
    const { wanted, identity } = replica;
    if (wanted === slot) return;
    if (wanted?.wish?.by === identity) wanted.wish = undefined;
    replica.wanted = undefined;
    if (slot === undefined || slot.wish !== undefined) return;
    slot.wish = { by: identity, until: this.#now + LEASE };
    replica.wanted = slot;
  }

  #slotsOf({ identity }: Replica): Slot[] {
    return this.#slots.filter(({ holder }) => holder?.by === identity);
  }
}

it(`shares are even, slots are free for a lease and two looks at most, and stay, in ${HISTORIES} histories of decisions`, () => {
  const first = inject("seed");
  const failed: object[] = [];
  let longest = 0;
  let moves = 0;
  for (let seed = first; seed < first + HISTORIES; seed++) {
    const world = new DecisionWorld(seed);
    world.run();
    longest = Math.max(longest, world.longestFree);
    moves += world.moves;
    if (world.faults.size > 0) failed.push({ seed, count: world.count, faults: [...world.faults] });
  }
  expect(failed.slice(0, 10)).toEqual([]);
  expect(longest).toBeLessThanOrEqual(LEASE + 2 * LONGEST_PERIOD);
  expect(moves).toBeGreaterThan(10 * HISTORIES);
}, 1_200_000);
