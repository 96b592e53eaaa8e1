import type { Clock } from "@holdfast/clock";
import {
  requireDelay,
  requireFinite,
  requireNotNegative,
  requireOptions,
  requireSignal,
  requireString,
} from "@holdfast/clock/internal";
import type { RateLimiter } from "../limit/rate-limiter.ts";
import type { AddOptions } from "./add-options.ts";
import { Backlog } from "./backlog.ts";
import type { DrainReport } from "./drain-report.ts";
import { type DrainOptions, Drains } from "./drains.ts";
import { Getters } from "./getters.ts";
import type { WorkItem } from "./hand-out.ts";
import { resolveWorkQueue, type WorkQueueArguments } from "./work-queue-options.ts";

/**
 * Work that waits to be done: each key once, however often it is added, and never by two at once.
 *
 * | A key that is | and is added | and is added with `after` | and is done |
 * | --- | --- | --- | --- |
 * | unknown | is queued | is delayed | |
 * | delayed | is queued; the delay is gone | has the earlier of both times | |
 * | queued | stays where it is | stays where it is | |
 * | handed out | is queued when that is done | is delayed, and queued after its time and when done | is forgotten |
 *
 * Keys leave in the order in which they were queued; a higher priority goes first. Of several items
 * with one key the latest is handed out; what is retried is older than what was added meanwhile.
 *
 * However many keys are delayed, they share one timer. Nothing else runs by itself: a queue without
 * delayed keys needs no closing.
 *
 * @remarks
 * Source: `TypedRateLimitingQueue` of k8s.io/client-go/util/workqueue in one class, with the
 * priorities of sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue.
 *
 * @typeParam Item - what is added and handed out: strings, or anything with a `keyOf`
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { WorkQueue } from "@holdfast/controller";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const queue = new WorkQueue({ clock });
 * let failures = 2;
 *
 * async function worker(): Promise<void> {
 *   for await (using work of queue) {
 *     if (work.key === "flaky" && failures-- > 0) {
 *       console.log(clock.monotonic() - start, work.key, "again in", queue.retry(work.item));
 *     } else {
 *       console.log(clock.monotonic() - start, work.key, "done");
 *       queue.forget(work.item);
 *     }
 *   }
 * }
 *
 * const workers = Promise.all([worker(), worker()]);
 * for (const key of ["flaky", "b", "b", "b"]) queue.add(key);
 * // => 0 flaky again in 5
 * // => 0 b done
 * await clock.step(100);
 * // => 5 flaky again in 10
 * // => 15 flaky done
 * await queue.drain();
 * await workers;
 * ```
 */
export class WorkQueue<Item = string> implements AsyncIterable<WorkItem<Item>>, AsyncDisposable {
  readonly #backlog: Backlog<Item>;
  readonly #clock: Clock;
  readonly #limiter: RateLimiter;
  readonly #keyOf: (item: Item) => string;
  readonly #getters = new Getters<WorkItem<Item> | undefined>();
  readonly #drains = new Drains();
  #isShutDown = false;
  #isServing = false;

  /**
   * @param args - see {@link WorkQueueOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(...args: WorkQueueArguments<Item>) {
    const [options = {}] = args;
    const { keyOf, limiter, ...rest } = resolveWorkQueue<Item>(options);
    this.#keyOf = keyOf;
    this.#limiter = limiter;
    this.#clock = rest.clock;
    this.#backlog = new Backlog<Item>({
      ...rest,
      onDue: () => this.#serve(),
      onDone: (assignment) => {
        this.#backlog.finish(assignment);
        this.#serve();
        if (this.#isShutDown && this.#isIdle) this.#drains.settle();
      },
    });
  }

  /** How many keys can be handed out now. */
  get size(): number {
    return this.#backlog.size;
  }

  /** How many keys wait for their time. */
  get delayed(): number {
    return this.#backlog.delayed;
  }

  /** How many keys are handed out and not done. */
  get inFlight(): number {
    return this.#backlog.inFlight;
  }

  /** Whether {@link WorkQueue.shutDown} or {@link WorkQueue.drain} was called. */
  get isShutDown(): boolean {
    return this.#isShutDown;
  }

  /**
   * Asks for an item to be handed out, now or later; see the table of {@link WorkQueue}.
   *
   * Added without a delay, a key that was delayed is handed out once, now. The priority of a key only
   * rises until it is handed out, so adding a key of priority -1 without one makes it 0.
   *
   * After {@link WorkQueue.shutDown} an item without a delay is ignored, and one with a delay only
   * appears in the report of {@link WorkQueue.drain}.
   *
   * @param item - what to hand out
   * @param options - see {@link AddOptions}
   * @throws TypeError if the item's key is no string, RangeError or TypeError for a bad option
   */
  add(item: Item, options?: AddOptions): void {
    const key = this.#keyOfItem(item);
    if (options === undefined) {
      this.#backlog.add(key, item, 0);
      this.#serve();
      return;
    }
    requireOptions("options", options);
    const { after = 0, priority = 0 } = options;
    const delay = requireDelay("options.after", after);
    requireFinite("options.priority", priority);
    this.#add(key, item, delay, priority);
  }

  /**
   * Asks for an item to be handed out again after a failure, when the limiter says so.
   *
   * Call it before the hand-out is done: the delay counts from now. Count nothing else: a failure
   * while the back-off of the one before is not over does not make the next delay longer
   * (kubernetes/kubernetes#132805).
   *
   * A retry is no news: if the key was added since it was handed out, what was added stays what is
   * handed out next, whatever object is retried.
   *
   * @param item - what to hand out if its key does not wait
   * @param options - its priority; see {@link AddOptions}
   * @returns the delay, in milliseconds
   * @throws TypeError if the item's key is no string, RangeError or TypeError for a bad option
   */
  retry(item: Item, options: Pick<AddOptions, "priority"> = {}): number {
    const key = this.#keyOfItem(item);
    requireOptions("options", options);
    const { priority = 0 } = options;
    requireFinite("options.priority", priority);
    const delay = requireDelay("the delay that options.limiter returns", this.#limiter.when(key));
    this.#add(key, this.#backlog.nextOf(key) ?? item, delay, priority);
    return delay;
  }

  /**
   * Forgets the failures of an item's key; the next delay is the first again. Call it when the work
   * has succeeded, or when it will not be retried. What is queued or delayed stays so.
   *
   * @throws TypeError if the item's key is no string
   */
  forget(item: Item): void {
    this.#limiter.forget(this.#keyOfItem(item));
  }

  /**
   * How many failures of an item's key are counted.
   *
   * @throws TypeError if the item's key is no string
   */
  requeues(item: Item): number {
    return this.#limiter.requeues(this.#keyOfItem(item));
  }

  /**
   * Calls off what a key waits for, if it waits for its time. What is queued or handed out stays so.
   *
   * @returns whether it waited
   * @throws TypeError if the item's key is no string
   */
  cancel(item: Item): boolean {
    return this.#backlog.cancel(this.#keyOfItem(item));
  }

  /**
   * The next key, if there is one now. It goes before those who wait in {@link WorkQueue.get}.
   *
   * @returns undefined if nothing is queued
   */
  take(): WorkItem<Item> | undefined {
    return this.#backlog.take();
  }

  /**
   * Waits for the next key; first come, first served.
   *
   * @param signal - ends the wait: it rejects at once with `signal.reason`, the same object
   * @returns the hand-out; undefined once the queue is shut down and nothing is queued. A bad
   * argument rejects with a TypeError
   */
  get(signal?: AbortSignal): Promise<WorkItem<Item> | undefined> {
    if (signal !== undefined) {
      try {
        requireSignal("signal", signal);
      } catch (error) {
        return Promise.reject(error);
      }
      if (signal.aborted) return Promise.reject(signal.reason);
    }
    if (this.#getters.size > 0) return this.#getters.wait(signal);
    const next = this.#backlog.take();
    if (next !== undefined || this.#isShutDown) return Promise.resolve(next);
    return this.#getters.wait(signal);
  }

  /** Each key in turn, until the queue is shut down and nothing is queued. Several may iterate. */
  [Symbol.asyncIterator](): AsyncIterator<WorkItem<Item>, undefined> {
    return {
      next: async () => {
        const value = await this.get();
        return value === undefined ? { done: true, value } : { done: false, value };
      },
    };
  }

  /**
   * Ends the queue: nothing is added and nothing becomes due any more. What is queued is still handed
   * out, and so is what was added again while it was handed out. The second call does nothing.
   */
  shutDown(): void {
    if (this.#isShutDown) return;
    this.#isShutDown = true;
    this.#backlog.close();
    this.#serve();
  }

  /**
   * Shuts the queue down and waits until all that was queued or handed out is done. Somebody must
   * still take it.
   *
   * It can be called many times, at the same time too.
   *
   * @param options - see {@link DrainOptions}
   * @returns what became of the keys, at the end or when the timeout is over. An abort rejects with
   * `signal.reason` itself, a bad argument with a RangeError or TypeError
   *
   * @example
   * ```ts
   * import { FakeClock } from "@holdfast/clock/testing";
   * import { WorkQueue } from "@holdfast/controller";
   *
   * const clock = new FakeClock();
   * const queue = new WorkQueue({ clock });
   * queue.add("stuck");
   * queue.add("later", { after: 60_000 });
   * queue.take();
   * const drained = queue.drain({ timeout: 10_000 });
   * await clock.step(10_000);
   * console.log((await drained).finished, (await drained).running); // => false [ 'stuck' ]
   * console.log((await drained).delayed); // => [ { key: 'later', item: 'later', after: 50000 } ]
   * ```
   */
  async drain(options: DrainOptions = {}): Promise<DrainReport<Item>> {
    requireOptions("options", options);
    const { timeout = Number.POSITIVE_INFINITY, signal } = options;
    requireNotNegative("options.timeout", timeout);
    if (signal !== undefined) requireSignal("options.signal", signal);
    this.shutDown();
    if (!this.#isIdle && timeout > 0) await this.#drains.wait(this.#clock, timeout, signal);
    return {
      finished: this.#isIdle,
      running: this.#backlog.keysInFlight(),
      queued: this.#backlog.keysToHandOut(),
      delayed: this.#backlog.keysDelayed(),
    };
  }

  /** The same as {@link WorkQueue.drain}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain();
  }

  get #isIdle(): boolean {
    return this.#backlog.size === 0 && this.#backlog.inFlight === 0;
  }

  #keyOfItem(item: Item): string {
    const key = this.#keyOf(item);
    requireString("the key of an item", key);
    return key;
  }

  #add(key: string, item: Item, delay: number, priority: number): void {
    if (delay > 0) {
      // Nothing is queued by this, so nobody is served.
      this.#backlog.postpone(key, item, delay, priority);
      return;
    }
    this.#backlog.add(key, item, priority);
    this.#serve();
  }

  /**
   * Serves who waits once the code that runs now has ended: of what that adds in one go, the first to
   * leave is the one that comes first, and not the one that was added first.
   */
  #serve(): void {
    if (this.#isServing || this.#getters.size === 0) return;
    this.#isServing = true;
    queueMicrotask(() => {
      this.#isServing = false;
      while (this.#getters.size > 0 && (this.#backlog.size > 0 || this.#isShutDown))
        this.#getters.serve(this.#backlog.take());
    });
  }
}
