import {
  abortSignal,
  finite,
  type Kinds,
  notNegative,
  read,
  requireDelay,
  requireSignal,
  requireString,
} from "@holdfast/kit";
import type { RateLimiter } from "../limit/rate-limiter.ts";
import { Backlog, type WorkItem } from "./backlog.ts";
import {
  ADD_OPTIONS,
  type AddOptions,
  type DrainOptions,
  type DrainReport,
  resolveWorkQueue,
  type WorkQueueArguments,
} from "./work-queue-options.ts";

/** The options of {@link WorkQueue.retry}. */
export const RETRY_OPTIONS: Kinds<Pick<AddOptions, "priority">> = { priority: finite };

export const DRAIN_OPTIONS: Kinds<DrainOptions> = {
  timeout: notNegative,
  signal: abortSignal,
};

/**
 * A queue of keys. Each key is in it once, however often it is added, and is processed by one worker at
 * a time.
 *
 * | A key that is | is added | is added with `after` | is done |
 * | --- | --- | --- | --- |
 * | unknown | is queued | is delayed | |
 * | delayed | is queued; the delay is gone | takes the earlier of both times | |
 * | queued | stays in its place, unless its priority rises | the same | |
 * | in flight | is queued when done | is delayed, and queued after that time and when done | is forgotten |
 *
 * Keys leave in queue order; a higher priority goes first. With `fairBy`, groups of keys take turns, and the order is that
 * within a group. The latest of several
 * items with one key is handed out. A retried item is older than one added meanwhile.
 *
 * All delayed keys share one timer. The queue has no other background work: without delayed keys it needs no
 * closing.
 *
 * @remarks
 * Source: `TypedRateLimitingQueue` of k8s.io/client-go/util/workqueue in one class, with the
 * priorities of sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue.
 *
 * @typeParam Item - the type of items: strings, or anything with a `keyOf`
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
  readonly #limiter: RateLimiter;
  readonly #keyOf: (item: Item) => string;

  /**
   * @param args - see {@link WorkQueueOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(...args: WorkQueueArguments<Item>) {
    const [options = {}] = args;
    const { keyOf, limiter, ...rest } = resolveWorkQueue<Item>(options);
    this.#keyOf = keyOf;
    this.#limiter = limiter;
    this.#backlog = new Backlog<Item>(rest);
  }

  /** Number of queued keys. */
  get size(): number {
    return this.#backlog.size;
  }

  /** Number of delayed keys. */
  get delayed(): number {
    return this.#backlog.delayed;
  }

  /** Number of keys in flight: taken and not done. */
  get inFlight(): number {
    return this.#backlog.inFlight;
  }

  /** Whether {@link WorkQueue.shutDown} or {@link WorkQueue.drain} was called. */
  get isShutDown(): boolean {
    return this.#backlog.isShutDown;
  }

  /**
   * Adds an item, now or later; see the table of {@link WorkQueue}.
   *
   * A delayed key that is added without a delay runs once, now. The priority of a key only rises until
   * it is taken, so adding a key of priority -1 without one makes it 0.
   *
   * After {@link WorkQueue.shutDown} an item without a delay is ignored. One with a delay appears only in
   * the report of {@link WorkQueue.drain}; it is ignored if its key is still handed out.
   *
   * @param item - the item to hand out
   * @param options - see {@link AddOptions}
   * @throws TypeError if the item's key is not a string, RangeError or TypeError for a bad option
   */
  add(item: Item, options?: AddOptions): void {
    const key = this.#keyOfItem(item);
    if (options === undefined) {
      this.#backlog.add(key, item, 0, 0);
      return;
    }
    const { after = 0, priority = 0 } = read("options", options, "add", ADD_OPTIONS);
    this.#backlog.add(key, item, after, priority);
  }

  /**
   * Adds an item again after a failure, with the delay of the limiter.
   *
   * Call it before the work item is done: the delay counts from now. A failure during the backoff of an
   * earlier one does not make the next delay longer (kubernetes/kubernetes#132805).
   *
   * If the key was added while in flight, the added item stays the next one.
   *
   * @param item - the item to hand out if its key was not added meanwhile
   * @param options - its priority; see {@link AddOptions}
   * @returns the delay, in milliseconds
   * @throws TypeError if the item's key is not a string, RangeError or TypeError for a bad option
   */
  retry(item: Item, options: Pick<AddOptions, "priority"> = {}): number {
    const key = this.#keyOfItem(item);
    const { priority = 0 } = read("options", options, "retry", RETRY_OPTIONS);
    const delay = requireDelay("the delay that options.limiter returns", this.#limiter.when(key));
    this.#backlog.add(key, this.#backlog.nextOf(key) ?? item, delay, priority);
    return delay;
  }

  /**
   * Forgets the failures of an item's key: its next delay is the first again. Call it after success, or
   * when you give up. A queued or delayed key stays so.
   *
   * @throws TypeError if the item's key is not a string
   */
  forget(item: Item): void {
    this.#limiter.forget(this.#keyOfItem(item));
  }

  /**
   * Number of counted failures of an item's key.
   *
   * @throws TypeError if the item's key is not a string
   */
  requeues(item: Item): number {
    return this.#limiter.requeues(this.#keyOfItem(item));
  }

  /**
   * Cancels the delay of a key, and drops its item. A queued key or one in flight stays so.
   *
   * @returns whether the key was delayed
   * @throws TypeError if the item's key is not a string
   */
  cancel(item: Item): boolean {
    return this.#backlog.cancel(this.#keyOfItem(item));
  }

  /**
   * Takes the next key, if one is queued. It goes before pending calls of {@link WorkQueue.get}.
   *
   * @returns undefined if no key is queued
   */
  take(): WorkItem<Item> | undefined {
    return this.#backlog.take();
  }

  /**
   * Waits for the next key. Pending calls are served in call order.
   *
   * @param signal - ends the wait: the promise rejects at once with `signal.reason`
   * @returns the work item; undefined once the queue is shut down, no key is queued, and no key in flight
   * was added again. A bad argument rejects with a TypeError
   */
  async get(signal?: AbortSignal): Promise<WorkItem<Item> | undefined> {
    requireUsable(signal);
    return this.#backlog.next(signal);
  }

  /** Iterates over work items until the queue is shut down and empty. Several loops may share a queue. */
  [Symbol.asyncIterator](): AsyncIterator<WorkItem<Item>, undefined> {
    return {
      next: async () => {
        const value = await this.get();
        return value === undefined ? { done: true, value } : { done: false, value };
      },
    };
  }

  /**
   * Waits until no key is queued, delayed or in flight. The queue stays open: keys may be added the moment
   * after.
   *
   * A key added with `after: Infinity` is delayed. After {@link WorkQueue.shutDown} delayed keys no
   * longer count, because they are never queued. A {@link WorkQueue.drain} that ran into its timeout ends the
   * wait too: what is left is in its report.
   *
   * @param signal - ends the wait: the promise rejects at once with `signal.reason`
   * @returns a promise that resolves as soon as the queue is idle, at once if it already is. A bad
   * argument rejects with a TypeError
   *
   * @example
   * ```ts
   * import { FakeClock } from "@holdfast/clock/testing";
   * import { WorkQueue } from "@holdfast/controller";
   *
   * const clock = new FakeClock();
   * const queue = new WorkQueue({ clock });
   * queue.add("a");
   * const idle = queue.idle().then(() => console.log("idle"));
   * const work = queue.take();
   * queue.add("a", { after: 5_000 });
   * work?.done();
   * await clock.step(5_000);
   * console.log(queue.size); // => 1
   * queue.take()?.done();
   * await idle; // => idle
   * ```
   */
  async idle(signal?: AbortSignal): Promise<void> {
    requireUsable(signal);
    return this.#backlog.idle(signal);
  }

  /**
   * Ends the queue: nothing is added and nothing becomes due any more. Queued keys are still handed out,
   * and so are keys that were added again while in flight. A second call does nothing.
   */
  shutDown(): void {
    this.#backlog.shutDown();
  }

  /**
   * Shuts the queue down and waits until every key queued or in flight is done. Workers must still take
   * the queued ones.
   *
   * It can be called several times, also concurrently.
   *
   * @param options - see {@link DrainOptions}
   * @returns a report of the keys that are left, when all is done or the timeout expires. An abort
   * rejects with `signal.reason`, a bad argument with a RangeError or TypeError
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
    return this.#backlog.drain(read("options", options, "drain", DRAIN_OPTIONS));
  }

  /** Same as {@link WorkQueue.drain}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain();
  }

  #keyOfItem(item: Item): string {
    const key = this.#keyOf(item);
    requireString("the key of an item", key);
    return key;
  }
}

function requireUsable(signal: AbortSignal | undefined): void {
  if (signal === undefined) return;
  requireSignal("signal", signal);
  if (signal.aborted) throw signal.reason;
}
