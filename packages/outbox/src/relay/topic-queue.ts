import type { PassiveClock } from "@holdfast/clock";
import { bytesOf } from "../message/stored-payload.ts";
import type { HeldClaim, HeldOutcome, Outcomes } from "./outcomes.ts";
import type { TopicLimits } from "./relay-options.ts";
import type { TopicHolds } from "./topic-holds.ts";

/** The payloads that a relay holds at most, in bytes: 32 MiB. The last claim may exceed it by one message. */
const MAX_BYTES = 32 * 1_024 * 1_024;

/** The maximum number of messages in one claim, unless the workers need more. */
const MOST_AT_ONCE = 1_000;

/** The claims of one topic. */
export interface Lane {
  readonly topic: string;
  /** In the order in which they came. */
  readonly waiting: HeldClaim[];
  inFlight: number;
  /** The number of its workers. */
  busy: number;
  /** Those that wait, and those in flight. */
  bytes: number;
  /** The number of the last turn that was its own. */
  turn: number;
}

/** What a relay should claim next. */
export interface Wanted {
  /** 0 while there is enough. */
  readonly limit: number;
  readonly maxBytes: number;
  /** The topics that have enough claims here, or are held. */
  readonly exceptTopics: readonly string[];
  /** Whether one of them has enough: it may have a backlog, which a claim steps over. */
  readonly isCrowded: boolean;
  /** The monotonic instant at which one of them may have a message again; `Infinity` if none is known. */
  readonly until: number;
}

export const NOTHING: Wanted = {
  limit: 0,
  maxBytes: 0,
  exceptTopics: [],
  isCrowded: false,
  until: Number.POSITIVE_INFINITY,
};

/** Options for {@link TopicQueue}. */
export interface TopicQueueOptions {
  readonly clock: PassiveClock;
  readonly workers: number;
  /** The number of messages that a worker sends in one call. */
  readonly batchSize: number;
  readonly topicWorkers: TopicLimits;
  readonly holds: TopicHolds;
  readonly outcomes: Outcomes;
  /** Attempts the claims of a batch, and then calls {@link TopicQueue.end}. It must not throw. */
  readonly work: (batch: Batch) => void;
}

/** The claims of one topic that a worker has. */
export interface Batch {
  readonly lane: Lane;
  readonly claims: readonly HeldClaim[];
}

/**
 * The claims of a relay: those that wait for a worker, and those in flight. A worker takes up to `batchSize` of one topic.
 * A topic that hangs must not keep the others waiting, so a topic may take workers, places and bytes only while it has fewer
 * of them than are free. A relay that has seen one topic gives it all workers.
 */
export class TopicQueue {
  readonly #options: TopicQueueOptions;
  readonly #ahead: LookAhead;
  #admitted: "all" | "alone" | "none" = "all";
  /** The number of claims that may wait, at the last request: a lower one later must not refuse its claims. */
  #requested = 0;
  /** The topics that have claims here. */
  readonly #lanes = new Map<string, Lane>();
  /** The messages in flight. */
  readonly #running = new Set<string>();
  /** The first topic it has seen, and whether there were others. */
  #first: string | undefined;
  #hasSeveral = false;
  #turn = 0;
  #size = 0;
  /** The number of workers that send nothing. */
  #free: number;
  #bytes = 0;

  constructor(options: TopicQueueOptions) {
    this.#options = options;
    this.#free = options.workers;
    this.#ahead = new LookAhead(options);
  }

  /** The number of claims that wait. */
  get size(): number {
    return this.#size;
  }

  /** The number of claims in flight. */
  get inFlight(): number {
    return this.#running.size;
  }

  /** From now on takes all claims, the one of a message that is attempted alone, or, for good, none. */
  admit(claims: "all" | "alone" | "none"): void {
    if (this.#admitted !== "none") this.#admitted = claims;
  }

  /** Takes claims, and begins with them. Those without room are given back. */
  add(claims: readonly HeldClaim[]): void {
    for (const held of claims) {
      const { claim, isAlone } = held;
      const { topic } = claim.message;
      if (!this.#hasRoom(held)) {
        this.#options.outcomes.add({ held, outcome: { type: "released", claim } });
        continue;
      }
      // A message that is attempted alone competes with no other topic: it takes no workers from one.
      if (!isAlone) {
        this.#first ??= topic;
        this.#hasSeveral ||= topic !== this.#first;
      }
      const none = { topic, waiting: [], inFlight: 0, busy: 0, bytes: 0, turn: 0 };
      const lane = this.#lanes.get(topic) ?? none;
      this.#lanes.set(topic, lane);
      lane.waiting.push(held);
      lane.bytes += bytesOf(claim.message);
      this.#bytes += bytesOf(claim.message);
      this.#size++;
    }
    this.#begin();
  }

  /**
   * Gives claims to the workers that are free, of the topic with the fewest workers, then of the one whose turn is longest
   * ago.
   */
  #begin(): void {
    while (this.#free > 0) {
      let next: Lane | undefined;
      for (const lane of this.#lanes.values())
        if (this.#mostOf(lane) > 0 && (next === undefined || isBefore(lane, next))) next = lane;
      if (next === undefined) return;
      const claims: HeldClaim[] = [];
      for (let most = this.#mostOf(next); most > 0; most--) {
        const [held] = next.waiting.splice(this.#readyIn(next), 1);
        if (held === undefined) break;
        this.#running.add(held.claim.message.id);
        claims.push(held);
      }
      next.inFlight += claims.length;
      next.busy++;
      next.turn = ++this.#turn;
      this.#free--;
      this.#size -= claims.length;
      this.#options.work({ lane: next, claims });
    }
  }

  /** A worker has ended the attempts of a batch: it begins with the next one, and does not wait for outcomes to be written. */
  end({ lane }: Batch, ended: readonly HeldOutcome[]): void {
    lane.busy--;
    this.#free++;
    for (const { held } of ended) {
      lane.inFlight--;
      this.#running.delete(held.claim.message.id);
      this.#remove(lane, held);
      this.#ahead.ended();
    }
    this.#begin();
    for (const each of ended) this.#options.outcomes.add(each);
    const isLast = this.#size + this.#running.size === 0;
    if (isLast || this.#admitted === "none") this.#options.outcomes.flush();
  }

  /** Gives back the claims whose attempts have not begun: all, or those of some topics. */
  giveBack(topics: Iterable<string> = this.#lanes.keys()): void {
    const { outcomes } = this.#options;
    for (const lane of [...topics].flatMap((topic) => this.#lanes.get(topic) ?? []))
      for (const held of lane.waiting.splice(0)) {
        this.#size--;
        this.#remove(lane, held);
        outcomes.add({ held, outcome: { type: "released", claim: held.claim } });
      }
    outcomes.flush();
  }

  /**
   * What to claim next.
   *
   * A topic is full, and left out, when more than half of those that should wait do so for it alone, or as many as there
   * is room left for all. There is enough when more than half of them wait for the other topics, or twice as many outcomes
   * are not written: the store is too slow for more.
   */
  wanted(): Wanted {
    const ahead = this.#ahead.limit;
    this.#requested = ahead;
    const { workers, batchSize, holds, outcomes } = this.#options;
    const places = this.#placesBeside(undefined, 2 * ahead);
    const bytes = MAX_BYTES - this.#bytes;
    const isClosed = this.#admitted !== "all" || outcomes.pending > 2 * ahead;
    if (isClosed || places <= 0 || bytes <= 0) return NOTHING;
    const free = this.#free * batchSize;
    const enough = ahead / 2;
    let [full, others] = this.#fullBeyond(enough, places, bytes);
    // With a worker free, those that wait do so for one of their own topic.
    if (free > 0 && others > enough) [full, others] = this.#fullBeyond(0, places, bytes);
    if (others > enough) return NOTHING;
    const isCrowded = full.length > 0;
    const limit = this.#hasSeveral || isCrowded ? Math.ceil(places / 2) : ahead - others + free;
    const { except, until } = holds.claimed();
    return {
      limit: Math.min(limit, Math.max(MOST_AT_ONCE, MOST * workers)),
      maxBytes: Math.ceil(bytes / 2),
      exceptTopics: [...new Set([...except, ...full])],
      isCrowded,
      until,
    };
  }

  /** Whether there is room for a claim of the last request. It may come after the end, or too late to be alone. */
  #hasRoom({ claim, isAlone, isLate }: HeldClaim): boolean {
    const { holds, batchSize } = this.#options;
    const { topic } = claim.message;
    if (isAlone) return !isLate && this.#admitted !== "none";
    if (this.#admitted !== "all" || holds.roomOf(topic) === 0) return false;
    const isSole = !this.#hasSeveral && topic === (this.#first ?? topic);
    const places = this.#placesBeside(topic, (isSole ? 1 : 2) * this.#requested);
    const waiting = this.#lanes.get(topic)?.waiting.length ?? 0;
    return waiting < places + this.#free * batchSize;
  }

  /**
   * The places that the topics leave, or all but one of them. Each counts for at most half of those that topics with more
   * leave: it has more when it took them while the relay was faster, and must not keep the others waiting for that.
   */
  #placesBeside(topic: string | undefined, places: number): number {
    const taken: number[] = [];
    for (const lane of this.#lanes.values())
      if (lane.topic !== topic) taken.push(lane.waiting.length);
    taken.sort((one, other) => other - one);
    let left = places;
    for (const each of taken) left -= Math.min(each, Math.ceil(left / 2));
    return left;
  }

  /** The number of claims of a topic with which a worker may begin now. */
  #mostOf(lane: Lane): number {
    const { workers, topicWorkers, batchSize, holds } = this.#options;
    const limit = topicWorkers.of.get(lane.topic) ?? topicWorkers.all;
    const share = limit ?? (this.#hasSeveral ? this.#free : workers);
    if (lane.busy >= share || this.#readyIn(lane) === lane.waiting.length) return 0;
    return Math.min(batchSize, holds.roomOf(lane.topic) - lane.inFlight);
  }

  /** The place of the first one to send. A message in flight may be claimed once more, after a suspension: it waits for its end. */
  #readyIn({ waiting }: Lane): number {
    for (const [i, { claim }] of waiting.entries())
      if (!this.#running.has(claim.message.id)) return i;
    return waiting.length;
  }

  /** The topics for which more than `most` wait, or as many as there is room left for all; and how many wait for the others. */
  #fullBeyond(
    most: number,
    places: number,
    bytes: number,
  ): readonly [full: readonly string[], others: number] {
    const full: string[] = [];
    let others = 0;
    for (const { topic, waiting, bytes: own } of this.#lanes.values())
      if (waiting.length > most || waiting.length >= places || own >= bytes) full.push(topic);
      else others += waiting.length;
    return [full, others];
  }

  #remove(lane: Lane, { claim }: HeldClaim): void {
    lane.bytes -= bytesOf(claim.message);
    this.#bytes -= bytesOf(claim.message);
    if (lane.inFlight + lane.waiting.length === 0) this.#lanes.delete(lane.topic);
  }
}

function isBefore(lane: Lane, other: Lane): boolean {
  return (lane.busy - other.busy || lane.turn - other.turn) < 0;
}

/** How far a relay looks ahead, in milliseconds: some round trips to a database. */
const HORIZON = 50;

/** The maximum of messages that wait for a worker, in multiples of the workers; with batches, one for each worker. */
const MOST = 10;

/**
 * The number of messages that a relay claims in advance: as many as its workers end in 50 ms, from
 * one for each worker to ten. So a fast receiver needs few claims, and messages for a slow one wait in the
 * table, where other relays find them.
 */
export class LookAhead {
  readonly #clock: PassiveClock;
  readonly #workers: number;
  readonly #least: number;
  #limit: number;
  /** The start of the current measurement. */
  #since: number;
  #ended = 0;

  constructor({
    clock,
    workers,
    batchSize = 1,
  }: Pick<TopicQueueOptions, "clock" | "workers"> & Partial<Pick<TopicQueueOptions, "batchSize">>) {
    this.#clock = clock;
    this.#workers = workers;
    this.#least = workers * batchSize;
    this.#limit = this.#least;
    this.#since = clock.monotonic();
  }

  /** The maximum number of messages that wait for a worker. */
  get limit(): number {
    return this.#limit;
  }

  /** An attempt has ended. */
  ended(): void {
    this.#ended++;
    if (this.#ended < this.#workers) return;
    const now = this.#clock.monotonic();
    const elapsed = Math.max(1, now - this.#since);
    const next = Math.ceil((this.#ended * HORIZON) / elapsed);
    this.#limit = Math.max(Math.min(next, MOST * this.#workers), this.#least);
    this.#since = now;
    this.#ended = 0;
  }
}
