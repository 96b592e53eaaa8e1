import type { PassiveClock } from "@holdfast/clock";
import { bytesOf } from "../message/stored-payload.ts";
import type { HeldClaim } from "./outcomes.ts";
import type { TopicLimits } from "./relay-options.ts";
import type { TopicHolds } from "./topic-holds.ts";

/** The payloads that a relay holds at most, in bytes: 32 MiB. The last claim may exceed it by one message. */
const MAX_BYTES = 32 * 1_024 * 1_024;

/** The maximum number of messages in one claim, unless the workers need more. */
const MOST_AT_ONCE = 1_000;

/** The claims of one topic. */
interface Lane {
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
  readonly limit: number;
  readonly maxBytes: number;
  /** The topics that have enough claims here, or are held. */
  readonly exceptTopics: readonly string[];
  /** Whether one of them has enough: it may have a backlog, which a claim steps over. */
  readonly isCrowded: boolean;
  /** The monotonic instant at which one of them may have a message again; `Infinity` if none is known. */
  readonly until: number;
}

/** Options for {@link TopicQueue}. */
export interface TopicQueueOptions {
  readonly clock: PassiveClock;
  readonly workers: number;
  /** The number of messages that a worker sends in one call. */
  readonly batchSize: number;
  readonly topicWorkers: TopicLimits;
  readonly holds: TopicHolds;
}

/**
 * The claims of a relay: those that wait for a worker, and those in flight. A worker takes up to `batchSize` of one topic.
 * A topic that hangs must not keep the others waiting, so a topic may take workers, places and bytes only while it has fewer
 * of them than are free. A relay that has seen one topic gives it all workers.
 */
export class TopicQueue {
  readonly #options: TopicQueueOptions;
  readonly #ahead: LookAhead;
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

  get isEmpty(): boolean {
    return this.#size + this.#running.size === 0;
  }

  /** Whether there is room for a claim of the last request, of a topic. */
  hasRoom(topic: string): boolean {
    if (this.#options.holds.roomOf(topic) === 0) return false;
    const places = this.#placesBeside(topic, (this.#isSole(topic) ? 1 : 2) * this.#requested);
    const waiting = this.#lanes.get(topic)?.waiting.length ?? 0;
    return waiting < places + this.#free * this.#options.batchSize;
  }

  /**
   * The places that the topics leave, or all but one of them. Each counts for at most half of those that topics with more
   * leave: it has more when it took them while the relay was faster, and must not keep the others waiting for that.
   */
  #placesBeside(topic: string | undefined, places: number): number {
    return [...this.#lanes.values()]
      .filter((lane) => lane.topic !== topic)
      .map(({ waiting }) => waiting.length)
      .sort((one, other) => other - one)
      .reduce((left, taken) => left - Math.min(taken, Math.ceil(left / 2)), places);
  }

  /** A message that is attempted alone competes with no other topic: it takes no workers from one. */
  add(held: HeldClaim): void {
    const { message } = held.claim;
    if (!held.isAlone) {
      this.#hasSeveral = !this.#isSole(message.topic);
      this.#first ??= message.topic;
    }
    const lane = this.#laneOf(message.topic);
    lane.waiting.push(held);
    lane.bytes += bytesOf(message);
    this.#bytes += bytesOf(message);
    this.#size++;
  }

  /**
   * The claims that the next worker begins with, of the topic with the fewest workers, then of the one whose turn is longest
   * ago; undefined if there is none, or no worker.
   */
  take(): readonly HeldClaim[] | undefined {
    if (this.#free <= 0) return undefined;
    let next: Lane | undefined;
    for (const lane of this.#lanes.values())
      if (this.#mayTake(lane) && (next === undefined || isBefore(lane, next))) next = lane;
    if (next === undefined) return undefined;
    const batch = this.#batchOf(next);
    next.inFlight += batch.length;
    next.busy++;
    next.turn = ++this.#turn;
    this.#free--;
    this.#size -= batch.length;
    return batch;
  }

  /** A worker has ended the attempts of its claims. */
  done(batch: readonly HeldClaim[]): void {
    for (const [i, held] of batch.entries()) {
      const { topic, id } = held.claim.message;
      const lane = this.#laneOf(topic);
      if (i === 0) {
        lane.busy--;
        this.#free++;
      }
      lane.inFlight--;
      this.#running.delete(id);
      this.#remove(lane, held);
      this.#ahead.ended();
    }
  }

  /** Takes out all that wait, or those of some topics. */
  clear(topics: Iterable<string> = this.#lanes.keys()): readonly HeldClaim[] {
    const lanes = [...topics].flatMap((topic) => this.#lanes.get(topic) ?? []);
    const all = lanes.flatMap((lane) => lane.waiting.splice(0).map((held) => ({ lane, held })));
    this.#size -= all.length;
    for (const { lane, held } of all) this.#remove(lane, held);
    return all.map(({ held }) => held);
  }

  /**
   * What to claim next; undefined while there is enough.
   *
   * A topic is full, and left out, when more than half of those that should wait do so for it alone, or as many as there
   * is room left for all. There is enough when more than half of them wait for the other topics.
   *
   * @param unwritten - the number of outcomes that are not written: with many, the store is too slow for more
   */
  wanted(unwritten: number): Wanted | undefined {
    const ahead = this.#ahead.limit;
    this.#requested = ahead;
    if (unwritten > 2 * ahead) return undefined;
    const places = this.#placesBeside(undefined, 2 * ahead);
    const room = { places, bytes: MAX_BYTES - this.#bytes };
    if (room.places <= 0 || room.bytes <= 0) return undefined;
    const free = this.#free * this.#options.batchSize;
    const enough = ahead / 2;
    let full = this.#fullLanes(enough, room);
    // With a worker free, those that wait do so for one of their own topic.
    if (free > 0 && this.#waitingBeside(full) > enough) full = this.#fullLanes(0, room);
    const others = this.#waitingBeside(full);
    if (others > enough) return undefined;
    const isCrowded = full.length > 0;
    const limit =
      this.#hasSeveral || isCrowded ? Math.ceil(room.places / 2) : ahead - others + free;
    const held = this.#options.holds.claimed();
    const except = new Set(held.except);
    for (const { topic } of full) except.add(topic);
    return {
      limit: Math.min(limit, Math.max(MOST_AT_ONCE, MOST * this.#options.workers)),
      maxBytes: Math.ceil(room.bytes / 2),
      exceptTopics: [...except],
      isCrowded,
      until: held.until,
    };
  }

  #mayTake(lane: Lane): boolean {
    const { workers, topicWorkers, holds } = this.#options;
    const limit = topicWorkers.of.get(lane.topic) ?? topicWorkers.all;
    const share = limit ?? (this.#hasSeveral ? this.#free : workers);
    if (lane.busy >= share || lane.inFlight >= holds.roomOf(lane.topic)) return false;
    return this.#readyIn(lane) !== undefined;
  }

  /** The first one to send. A message in flight may be claimed once more, after a suspension: it waits for its end. */
  #readyIn({ waiting }: Lane): number | undefined {
    for (const [i, { claim }] of waiting.entries())
      if (!this.#running.has(claim.message.id)) return i;
    return undefined;
  }

  /** Takes out the claims of one call. */
  #batchOf(lane: Lane): readonly HeldClaim[] {
    const { batchSize, holds } = this.#options;
    const most = Math.min(batchSize, holds.roomOf(lane.topic) - lane.inFlight);
    const batch: HeldClaim[] = [];
    while (batch.length < most) {
      const i = this.#readyIn(lane);
      const [held] = i === undefined ? [] : lane.waiting.splice(i, 1);
      if (held === undefined) break;
      this.#running.add(held.claim.message.id);
      batch.push(held);
    }
    return batch;
  }

  /** The topics for which more than `most` wait, or as many as there is room left for all. */
  #fullLanes(most: number, { places, bytes }: { places: number; bytes: number }): readonly Lane[] {
    return [...this.#lanes.values()].filter(
      ({ waiting, bytes: own }) =>
        waiting.length > most || waiting.length >= places || own >= bytes,
    );
  }

  /** The number of claims that wait for other topics than these. */
  #waitingBeside(lanes: readonly Lane[]): number {
    return lanes.reduce((rest, { waiting }) => rest - waiting.length, this.#size);
  }

  #isSole(topic: string): boolean {
    return !this.#hasSeveral && topic === (this.#first ?? topic);
  }

  #laneOf(topic: string): Lane {
    const found = this.#lanes.get(topic);
    if (found !== undefined) return found;
    const lane = { topic, waiting: [], inFlight: 0, busy: 0, bytes: 0, turn: 0 };
    this.#lanes.set(topic, lane);
    return lane;
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
