import { abortable, aborted, LinkedController } from "@holdfast/clock";
import type { RunOptions } from "@holdfast/controller";
import {
  anything,
  callSafely,
  type Deferred,
  deferred,
  func,
  type Kinds,
  read,
  requireNotNegative,
  requireSignal,
} from "@holdfast/kit";
import {
  backoffUntil,
  ExponentialBackoffManager,
  isTerminalError,
  withTimeout,
} from "@holdfast/wait";
import { loop } from "@holdfast/wait/loop";
import { failureOf, isExpired, tooOld } from "../failure-of.ts";
import { publishAll } from "../publisher/publisher.ts";
import type { Outcome } from "../store/outbox-store.ts";
import { report, reportRestriction } from "../task.ts";
import { ClaimFeed } from "./claim-feed.ts";
import { type HeldClaim, type HeldOutcome, leftOf, Outcomes } from "./outcomes.ts";
import { type RelayOptions, type ResolvedRelayOptions, resolveRelay } from "./relay-options.ts";
import { type HeldTopic, TopicHolds } from "./topic-holds.ts";
import { type Batch, TopicQueue } from "./topic-queue.ts";

/** A relay reads `stopWithin` alone. */
export const RUN_OPTIONS: Kinds<RunOptions> = {
  ref: anything,
  leadership: anything,
  shards: anything,
  stopWithin: func,
};

/**
 * The delays before a relay listens again, in milliseconds. They start over once it has listened: a pooler or a firewall
 * may end an idle connection every few seconds.
 */
const LISTEN_AGAIN = { duration: 1_000, factor: 2, cap: 30_000, jitter: 0.5 };
/** After so many milliseconds a store that is silent counts as one that listens. */
const LISTENED = 5_000;

/** The state of a {@link Relay}. */
export interface RelayStatus {
  /** `stopping`: its signal has aborted, and attempts or outcomes are under way. */
  readonly state: "new" | "running" | "stopping" | "stopped";

  /** The number of messages that are being sent; at most `workers`, times `batchSize` with `publishMany`. */
  readonly attempts: number;

  /** The number of claimed messages that wait for a worker. */
  readonly waiting: number;

  /** The number of outcomes that are not written yet. */
  readonly unwritten: number;

  /** The topics of which it begins no attempt. */
  readonly held: readonly HeldTopic[];
}

/**
 * Sends the messages of an outbox, each until the receiver has confirmed it or it is a dead letter.
 *
 * A relay claims as many messages as its workers start in the next 50 ms, and at least one for each, but at most 32 MiB
 * of payloads and one message. If it dies, its claims expire, and `Recovery` makes the messages due again. Any number of
 * relays share one table; no message is attempted by two of them at the same time.
 *
 * A topic whose receiver hangs does not keep the others waiting: once a relay has seen two topics, each has at most as
 * many workers as are left free.
 *
 * A message with an expired claim may have ended its process. It is attempted alone: nothing else is in flight in this
 * relay meanwhile, and afterwards other messages have as much time as it took. So run one relay in a process: `topics`
 * of a second one would not keep its messages from that end.
 *
 * | An attempt | Then the message |
 * | --- | --- |
 * | is confirmed | is `delivered` |
 * | fails, or takes longer than `publishTimeout` | is `retrying`, and due after its delay |
 * | fails for the `maxAttempts`-th time, or with a `TerminalError` | is `dead` |
 * | would begin after its `maxAge` | is `dead` |
 * | could not begin in time, or was cut short by the end of `grace` | is due as before |
 * | has an outcome that cannot be written | is sent again after its claim has expired |
 *
 * It runs once: make another one for another run.
 */
export class Relay {
  /** Its name. */
  readonly name: string;
  /**
   * Time that a stop may take, in milliseconds: `grace` plus twice `storeTimeout`, 40 s by default. A `Manager` waits
   * for it, if it has the time; otherwise the grace is shorter.
   */
  readonly stopTimeout: number;
  readonly #options: ResolvedRelayOptions;
  readonly #holds: TopicHolds;
  readonly #outcomes: Outcomes;
  readonly #queue: TopicQueue;
  readonly #feed: ClaimFeed;
  /** Ends the attempts when the time after the abort is over. */
  readonly #cut = new LinkedController();
  /** Resolves when no attempt and no outcome is under way; undefined if nothing waits for that. */
  #idle: Deferred<void> | undefined;
  #state: RelayStatus["state"] = "new";

  /** @throws RangeError that names the options that are out of their range */
  constructor(options: RelayOptions) {
    const resolved = resolveRelay(options);
    this.#options = resolved;
    this.name = resolved.name;
    this.stopTimeout = resolved.grace + 2 * resolved.storeTimeout;
    const holds = new TopicHolds(resolved);
    const outcomes = new Outcomes(resolved, this.#cut.signal, (event) => {
      this.#feed.onOutcome(event);
      report(event, resolved);
      if (this.#idle === undefined || this.#isBusy) return;
      this.#idle.resolve();
      this.#idle = undefined;
    });
    const work = (batch: Batch): void => void this.#work(batch);
    const queue = new TopicQueue({ ...resolved, holds, outcomes, work });
    this.#feed = new ClaimFeed(resolved, { queue, holds, settled: () => this.#settled() });
    this.#holds = holds;
    this.#outcomes = outcomes;
    this.#queue = queue;
  }

  /** Messages have been committed: looks for due messages at once. Pass it to `Outbox` as `onCommitted`. */
  wake(): void {
    this.#feed.wake();
  }

  /** A topic has been paused or resumed: looks at once. Otherwise it sees that within its `pollInterval`. */
  lookForPaused(): void {
    this.#feed.lookForPaused();
  }

  /**
   * Runs until the signal aborts. Then it claims nothing more, gives messages back whose attempts have not
   * begun, and finishes attempts within `grace`. After that it takes at most two requests to the store.
   *
   * @param signal - ends it. The promise resolves then, and no timer, listener or claim is left
   * @param options - see `RunOptions` of `@holdfast/controller`: with less time than `stopTimeout`, `stopWithin` shortens
   * `grace`
   * @returns a promise that rejects with an Error if it has run before
   */
  async run(signal: AbortSignal, options: RunOptions = {}): Promise<void> {
    requireSignal("signal", signal);
    const { stopWithin } = read("options", options, "run", RUN_OPTIONS);
    if (this.#state !== "new") throw new Error(`relay ${this.name} has already run`);
    this.#state = "running";
    const { clock, grace, storeTimeout } = this.#options;
    const feeding = this.#feed.run(signal);
    const listening = this.#listen(signal);
    const watching = watchClock(this.#options, signal);
    const asking = reportRestriction(this.#options.store, this.#options, signal);
    await aborted(signal);
    this.#state = "stopping";
    this.#queue.admit("none");
    this.#queue.giveBack();
    let within = Number.POSITIVE_INFINITY;
    // An error of the caller must not keep the messages from their end.
    callSafely(
      () => {
        if (stopWithin !== undefined)
          within = requireNotNegative("the time of options.stopWithin()", stopWithin());
      },
      (error) => report({ type: "error", error }, this.#options),
    );
    // Half of a short time at most is left to the last two requests, which take a few milliseconds as a rule.
    const left = Math.min(grace, within - Math.min(2 * storeTimeout, within / 2));
    using _ = clock.afterFunc(left, () => this.#cut.abort(new Error("grace is over")), {
      label: "grace",
    });
    await Promise.all([feeding, listening, watching, asking]);
    await this.#settled();
    this.#state = "stopped";
  }

  /** Its state, as plain data. */
  status(): RelayStatus {
    return {
      state: this.#state,
      attempts: this.#queue.inFlight,
      waiting: this.#queue.size,
      unwritten: this.#outcomes.pending,
      held: this.#holds.held,
    };
  }

  /** Sends messages in one call, and gives each its outcome. Never rejects. */
  async #work(batch: Batch): Promise<void> {
    const ended: HeldOutcome[] = [];
    const sent: HeldClaim[] = [];
    for (const held of batch.claims) {
      const outcome = this.#unfit(held);
      if (outcome === undefined) sent.push(held);
      else ended.push({ held, outcome });
    }
    const messages = sent.map(({ claim }) => claim.message);
    const results = await publishAll(messages, this.#options, this.#cut.signal);
    for (const [i, held] of sent.entries())
      ended.push({ held, outcome: this.#outcomeOf(held, results[i]) });
    const change = this.#cut.aborted ? undefined : this.#holds.ended(batch.lane.topic, results);
    if (change !== undefined) this.#feed.onHold(change);
    this.#queue.end(batch, ended);
    this.#feed.onRoom();
  }

  /** The outcome of a claim without an attempt; undefined if there is time for one, which ends before the claim expires. */
  #unfit(held: HeldClaim): Outcome | undefined {
    const { clock, publishTimeout, clockSkew } = this.#options;
    const { claim } = held;
    if (leftOf(held, clock) < publishTimeout + clockSkew || this.#cut.aborted)
      return { type: "released", claim };
    if (isExpired(claim.message, clock.now()))
      return { type: "failed", claim, failure: tooOld(claim.message, clock.now()) };
    return undefined;
  }

  #outcomeOf({ claim }: HeldClaim, result: PromiseSettledResult<unknown> | undefined): Outcome {
    const { clock, jitter, random } = this.#options;
    const now = clock.now();
    if (result?.status === "fulfilled") return { type: "delivered", claim, now: Math.floor(now) };
    if (this.#cut.aborted) return { type: "released", claim };
    const failure = failureOf(result?.reason, claim.message, { now, jitter, random });
    return { type: "failed", claim, failure };
  }

  get #isBusy(): boolean {
    return this.#queue.inFlight + this.#outcomes.pending > 0;
  }

  async #settled(): Promise<void> {
    while (this.#isBusy) {
      this.#idle ??= deferred();
      await this.#idle.promise;
    }
  }

  /** Wakes up when other processes notify, if the store can tell. */
  async #listen(signal: AbortSignal): Promise<void> {
    const { store, listen, clock, random } = this.#options;
    if (!listen || store.listen === undefined) return;
    const anew = () => new ExponentialBackoffManager({ ...LISTEN_AGAIN, random, clock });
    let delays = anew();
    let isListening = false;
    const turn = (now: boolean): void => {
      isListening = now;
      report({ type: "listening", isListening }, this.#options);
    };
    const onNotify = (): void => {
      if (!isListening) turn(true);
      this.wake();
    };
    const run = async (): Promise<void> => {
      const since = clock.monotonic();
      try {
        await this.#listenOnce(onNotify, signal);
      } finally {
        if (isListening || clock.monotonic() - since >= LISTENED) delays = anew();
      }
    };
    const onError = (error: unknown): void => {
      const isDeaf = isTerminalError(error);
      if (isListening || isDeaf) turn(false);
      report({ type: "error", error }, this.#options);
      if (isDeaf) throw error; // As every connection of this pool would be: it polls from now on.
    };
    const again = { backoff: () => delays.backoff() };
    await backoffUntil(run, again, true, signal, { onError }).catch((error: unknown) => {
      if (!isTerminalError(error)) throw error;
    });
  }

  /** After the abort a store that does not stop listening is abandoned when `storeTimeout` is over. */
  async #listenOnce(onNotify: () => void, signal: AbortSignal): Promise<void> {
    const { store, clock, storeTimeout } = this.#options;
    const listening = Promise.resolve(store.listen?.(onNotify, signal));
    try {
      await abortable(() => listening, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      await withTimeout(() => listening, storeTimeout, { clock, label: "listen" });
    }
  }
}

/** From the end of one measurement to the next, in milliseconds. */
const CLOCK_PERIOD = 60_000;

/**
 * Measures and reports how far the wall clock of this process is ahead of the database's, until the signal aborts.
 * Messages that a process saves or postpones are due by its own clock.
 */
async function watchClock(options: ResolvedRelayOptions, signal: AbortSignal): Promise<void> {
  const { store, clock, storeTimeout, clockSkew } = options;
  const { now } = store;
  if (now === undefined) return;
  const measure = async (): Promise<void> => {
    const began = clock.monotonic();
    const asked = clock.now();
    const theirs = await withTimeout((own) => now.call(store, own), storeTimeout, {
      clock,
      signal,
      label: "clock",
    });
    // The response may be older or younger than this by half of the round trip.
    const half = (clock.monotonic() - began) / 2;
    const ahead = asked + half - theirs;
    const isTolerated = Math.abs(ahead) <= clockSkew + half;
    report({ type: "clock", ahead: Math.round(ahead), isTolerated }, options);
  };
  const onError = (error: unknown): void => report({ type: "error", error }, options);
  await loop({ run: measure, delay: () => CLOCK_PERIOD, signal, clock, onError });
}
