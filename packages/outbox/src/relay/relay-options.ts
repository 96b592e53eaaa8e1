import {
  count,
  finiteFrom,
  flag,
  type Kinds,
  kind,
  methods,
  notNegative,
  positive,
  read,
  requireArray,
  requireBetween,
  requireCount,
  required,
  requireFunction,
  requireMethods,
  requireOptions,
} from "@holdfast/kit";
import { requireStoredName } from "../message/stored-text.ts";
import type { Publisher } from "../publisher/publisher.ts";
import type { OutboxStore } from "../store/outbox-store.ts";
import { type Resolved, resolveTask, TASK_OPTIONS, type TaskOptions } from "../task.ts";
import type { BreakerOptions, TopicHoldsOptions } from "./topic-holds.ts";

/** Options for `Relay`. Durations are in milliseconds. */
export interface RelayOptions extends TaskOptions {
  /** Where the messages are. */
  readonly store: Pick<
    OutboxStore<never>,
    "order" | "listen" | "now" | "restriction" | "claim" | "nextDue" | "write" | "pausedTopics"
  >;

  /** Sends them. The relay does not dispose of it. */
  readonly publisher: Publisher;

  /**
   * The number of messages sent at a time. Whole, at least 1. Those of the next 50 ms are claimed
   * in advance: at least as many more, at most ten times as many.
   *
   * @defaultValue `10`
   */
  readonly workers?: number | undefined;

  /**
   * Only messages of these topics: the others are for other relays. At least one.
   *
   * @defaultValue all topics
   */
  readonly topics?: readonly string[] | undefined;

  /**
   * The maximum number of workers of one topic: for all of them, or for some, as `{ "orders.paid": 2 }`. Whole, at least 1.
   * It limits this process; another one has as many.
   *
   * @defaultValue as many as there are free workers, so that a topic whose receiver hangs never has all of them; all
   * workers as long as the relay has seen one topic
   */
  readonly topicWorkers?: number | Readonly<Record<string, number>> | undefined;

  /**
   * The maximum number of messages in one call of `publishMany`, all of one topic. Whole, from 1 to 500. Each worker has a
   * call of its own. A call takes what waits; it does not wait for more.
   *
   * @defaultValue `100`; 1 if the publisher has no `publishMany`
   */
  readonly batchSize?: number | undefined;

  /**
   * Holds a topic while its receiver fails: its messages are not attempted, and spend no attempts. `{}` is one with the
   * defaults. Leave it out if messages of one topic go to several receivers.
   *
   * @defaultValue none
   */
  readonly breaker?: BreakerOptions | undefined;

  /**
   * How long an attempt may take. Above 0, finite.
   *
   * @defaultValue `15_000`
   */
  readonly publishTimeout?: number | undefined;

  /**
   * Duration of a claim. Finite, above `publishTimeout` plus `clockSkew`; the difference is the time a message
   * may wait for a worker, and the time its outcome may be written late. The messages of a relay that died wait for
   * this long.
   *
   * @defaultValue `60_000`
   */
  readonly claimDuration?: number | undefined;

  /**
   * Maximum difference between the wall clocks of two hosts. Finite, at least 0. An attempt begins only if its claim
   * lasts longer than the attempt by this much, so that no other host ends the claim meanwhile. Each minute the relay
   * measures how far its clock is ahead of the database's, and warns if that is more.
   *
   * @defaultValue `5_000`
   */
  readonly clockSkew?: number | undefined;

  /**
   * From one look for messages of other processes to the next. Above 0, finite. A look that takes longer is followed by
   * as long a rest, and no claim waits for it. Messages it knows of are sent when they are due.
   *
   * @defaultValue `5_000`
   */
  readonly pollInterval?: number | undefined;

  /**
   * Whether it listens for notifications of processes that have no relay, where the store can: on
   * PostgreSQL. That keeps one connection of the pool; behind a pooler that shares connections between
   * transactions, switch it off.
   *
   * @defaultValue `true`
   */
  readonly listen?: boolean | undefined;

  /**
   * Maximum time of attempts after the abort, in milliseconds. At least 0, or `Infinity`.
   *
   * @defaultValue `20_000`
   */
  readonly grace?: number | undefined;
}

/** The limits of topics, and that of all others, if there is one. */
export interface TopicLimits {
  readonly of: ReadonlyMap<string, number>;
  readonly all?: number;
}

/** The options with their defaults. */
export type ResolvedRelayOptions = Resolved<
  Omit<RelayOptions, "topics" | "topicWorkers" | "breaker">
> &
  Pick<RelayOptions, "topics"> & { readonly topicWorkers: TopicLimits } & Pick<
    TopicHoldsOptions,
    "breaker"
  >;

export const BREAKER_OPTIONS: Kinds<BreakerOptions> = { failures: count, openFor: positive };

/** The maximum of `batchSize`. */
const MOST_IN_BATCH = 500;

export const RELAY_OPTIONS: Kinds<RelayOptions> = {
  ...TASK_OPTIONS,
  store: required(methods("claim", "nextDue", "write")),
  publisher: required(kind("publisher", requirePublisher)),
  workers: count,
  topics: kind("topics", requireTopics),
  topicWorkers: kind("topicWorkers", topicWorkersOf),
  batchSize: kind("batchSize", requireBatchSize),
  breaker: kind("breaker", breakerOf),
  publishTimeout: positive,
  clockSkew: finiteFrom(0),
  claimDuration: positive,
  pollInterval: positive,
  grace: notNegative,
  listen: flag,
};

/** @throws RangeError or TypeError that names the option */
export function resolveRelay(options: RelayOptions): ResolvedRelayOptions {
  const given = read("options", options, "Relay", RELAY_OPTIONS);
  const { store, publisher, workers = 10, publishTimeout = 15_000, clockSkew = 5_000 } = given;
  const { claimDuration = 60_000, pollInterval = 5_000, grace = 20_000, listen = true } = given;
  if (!(claimDuration > publishTimeout + clockSkew))
    throw new RangeError(
      `options.claimDuration must be above publishTimeout plus clockSkew, ${publishTimeout + clockSkew}, got ${claimDuration}`,
    );
  const durations = { publishTimeout, clockSkew, claimDuration, pollInterval, grace };
  const sending = { publisher, workers, ...perTopic(given) };
  return { ...resolveTask(given), store, ...sending, listen, ...durations };
}

function perTopic({ publisher, topics, topicWorkers, batchSize = 100, breaker }: RelayOptions) {
  return {
    topics: topics && [...topics],
    topicWorkers: topicWorkersOf("options.topicWorkers", topicWorkers),
    batchSize: publisher.publishMany === undefined ? 1 : batchSize,
    breaker: breaker && breakerOf("options.breaker", breaker),
  };
}

function requirePublisher(path: string, publisher: Publisher): void {
  requireMethods(path, publisher, ["publish"]);
  if (publisher.publishMany !== undefined)
    requireFunction(`${path}.publishMany`, publisher.publishMany);
}

function topicWorkersOf(path: string, given: RelayOptions["topicWorkers"]): TopicLimits {
  if (given === undefined) return { of: new Map() };
  if (typeof given !== "object") return { of: new Map(), all: requireCount(path, given) };
  requireOptions(path, given);
  const of = new Map(Object.entries(given));
  for (const [topic, limit] of of) {
    requireStoredName(`a topic of ${path}`, topic);
    requireCount(`${path}[${JSON.stringify(topic)}]`, limit);
  }
  return { of };
}

function requireBatchSize(path: string, size: number): void {
  requireCount(path, size);
  requireBetween(path, size, 1, MOST_IN_BATCH);
}

function breakerOf(path: string, given: BreakerOptions): NonNullable<TopicHoldsOptions["breaker"]> {
  const { failures = 10, openFor = 30_000 } = read(path, given, "Relay", BREAKER_OPTIONS);
  return { failures, openFor };
}

function requireTopics(path: string, topics: readonly string[]): void {
  requireArray(path, topics);
  if (topics.length === 0) throw new RangeError(`${path} must have at least one topic`);
  for (const [i, topic] of topics.entries()) requireStoredName(`${path}[${i}]`, topic);
}
