import type { PassiveClock } from "@holdfast/clock";
import { bytesOf } from "../message/stored-payload.ts";
import type { HeldClaim } from "./outcomes.ts";

/** The payloads that a relay holds at most, in bytes: 32 MiB. The last claim may exceed it by one message. */
const MAX_BYTES = 32 * 1_024 * 1_024;

/** A claim that waits, and its place in the order in which they came. */
interface Waiting {
  readonly held: HeldClaim;
  readonly place: number;
}

/** The claims of one topic. */
interface Lane {
  readonly topic: string;
  readonly waiting: Waiting[];
  inFlight: number;
  /** Those that wait, and those in flight. */
  bytes: number;
}

/** What a relay should claim next. */
export interface Wanted {
  readonly limit: number;
  readonly maxBytes: number;
  /** The topics that have enough claims here. */
  readonly exceptTopics: readonly string[];
}

/** Options for {@link TopicQueue}. */
export interface TopicQueueOptions {
  readonly clock: PassiveClock;
  readonly workers: number;
  readonly topicWorkers?: number | undefined;
}

/**
 * The claims of a relay: those that wait for a worker, and those in flight. A topic that hangs must not keep the others
 * waiting, so a topic may take workers, places and bytes only while it has fewer of them than are free. A relay that has
 * seen one topic gives it all workers.
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
  #place = 0;
  #size = 0;
  #inFlight = 0;
  #bytes = 0;

  constructor(options: TopicQueueOptions) {
    this.#options = options;
    this.#ahead = new LookAhead(options);
  }

  /** The number of claims that wait. */
  get size(): number {
    return this.#size;
  }

  /** The number of claims in flight. */
  get inFlight(): number {
    return this.#inFlight;
  }

  get isEmpty(): boolean {
    return this.#size + this.#inFlight === 0;
  }

  /** Whether there is room for a claim of the last request, of a topic. */
  hasRoom(topic: string): boolean {
    const places = this.#placesBeside(topic, (this.#isSole(topic) ? 1 : 2) * this.#requested);
    const waiting = this.#lanes.get(topic)?.waiting.length ?? 0;
    return waiting + this.#inFlight < places + this.#options.workers;
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
    lane.waiting.push({ held, place: this.#place++ });
    lane.bytes += bytesOf(message);
    this.#bytes += bytesOf(message);
    this.#size++;
  }

  /** The claim to begin now, of the topic with the fewest in flight; undefined if there is none, or no worker. */
  take(): HeldClaim | undefined {
    const { workers, topicWorkers } = this.#options;
    const free = workers - this.#inFlight;
    if (free <= 0) return undefined;
    const share = topicWorkers ?? (this.#hasSeveral ? free : workers);
    let next: Next | undefined;
    for (const lane of this.#lanes.values()) {
      if (lane.inFlight >= share) continue;
      // A message in flight may be claimed once more, after a suspension: it waits for its end.
      const waiting = lane.waiting.find(({ held }) => !this.#running.has(held.claim.message.id));
      if (waiting !== undefined && isBefore({ lane, waiting }, next)) next = { lane, waiting };
    }
    if (next === undefined) return undefined;
    const { lane, waiting } = next;
    lane.waiting.splice(lane.waiting.indexOf(waiting), 1);
    lane.inFlight++;
    this.#running.add(waiting.held.claim.message.id);
    this.#size--;
    this.#inFlight++;
    return waiting.held;
  }

  /** The attempt of a claim has ended. */
  done(held: HeldClaim): void {
    const { topic, id } = held.claim.message;
    const lane = this.#laneOf(topic);
    lane.inFlight--;
    this.#inFlight--;
    this.#running.delete(id);
    this.#remove(lane, held);
    this.#ahead.ended();
  }

  /** Takes out all that wait. */
  clear(): readonly HeldClaim[] {
    const all = [...this.#lanes.values()].flatMap((lane) =>
      lane.waiting.splice(0).map(({ held }) => ({ lane, held })),
    );
    this.#size = 0;
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
    const free = this.#options.workers - this.#inFlight;
    const enough = ahead / 2;
    let full = this.#fullLanes(enough, room);
    // With a worker free, those that wait do so for one of their own topic.
    if (free > 0 && this.#waitingBeside(full) > enough) full = this.#fullLanes(0, room);
    const others = this.#waitingBeside(full);
    if (others > enough) return undefined;
    const isForSeveral = this.#hasSeveral || full.length > 0;
    return {
      limit: isForSeveral ? Math.ceil(room.places / 2) : ahead - others + free,
      maxBytes: Math.ceil(room.bytes / 2),
      exceptTopics: full.map(({ topic }) => topic),
    };
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
    const lane = { topic, waiting: [], inFlight: 0, bytes: 0 };
    this.#lanes.set(topic, lane);
    return lane;
  }

  #remove(lane: Lane, { claim }: HeldClaim): void {
    lane.bytes -= bytesOf(claim.message);
    this.#bytes -= bytesOf(claim.message);
    if (lane.inFlight + lane.waiting.length === 0) this.#lanes.delete(lane.topic);
  }
}

interface Next {
  readonly lane: Lane;
  readonly waiting: Waiting;
}

/** The topic with fewer in flight goes first, then the claim that came first. */
function isBefore({ lane, waiting }: Next, other: Next | undefined): boolean {
  if (other === undefined) return true;
  const difference = lane.inFlight - other.lane.inFlight;
  return difference < 0 || (difference === 0 && waiting.place < other.waiting.place);
}

/** How far a relay looks ahead, in milliseconds: some round trips to a database. */
const HORIZON = 50;

/** The maximum of messages that wait for a worker, in multiples of the workers. */
const MOST = 10;

/**
 * The number of messages that a relay claims in advance: as many as its workers end in 50 ms, from
 * one for each worker to ten. So a fast receiver needs few claims, and messages for a slow one wait in the
 * table, where other relays find them.
 */
export class LookAhead {
  readonly #clock: PassiveClock;
  readonly #workers: number;
  #limit: number;
  /** The start of the current measurement. */
  #since: number;
  #ended = 0;

  constructor({ clock, workers }: { readonly clock: PassiveClock; readonly workers: number }) {
    this.#clock = clock;
    this.#workers = workers;
    this.#limit = workers;
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
    this.#limit = Math.min(Math.max(next, this.#workers), MOST * this.#workers);
    this.#since = now;
    this.#ended = 0;
  }
}
