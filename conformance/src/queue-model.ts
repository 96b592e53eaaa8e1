import type { LimiterModel } from "./limiter-model.ts";
import type { RuleSet } from "./rules.ts";
import { type Waiting, WaitingHeap } from "./waiting-heap.ts";

/** What an operation on a queue let happen. */
export interface Happened {
  /** Who had waited for an item and got one, or null at the end. */
  readonly served: (number | null)[];
  /** The drains that ended. */
  readonly drained: number[];
}

/** Go's work queue in lists and sets; each rule in force changes one thing to what Holdfast does. */
export class QueueModel {
  now: number = 0;
  isShutDown: boolean = false;
  readonly processing: Set<number> = new Set();
  readonly queue: number[] = [];
  /** What its users hold: a key twice if it was handed out twice. */
  readonly held: number[] = [];
  /** By key: its arrival. */
  readonly #dirty = new Map<number, number>();
  /** Arrivals of the queued keys. */
  readonly #arrivals = new Map<number, number>();
  #arrived = 0;
  readonly #waiting = new WaitingHeap();
  readonly #limiter: LimiterModel | undefined;
  readonly #inForce: RuleSet;
  #isDraining = false;
  #getters = 0;
  #drains: number[] = [];
  #happened: Happened = { served: [], drained: [] };

  constructor(inForce: RuleSet, limiter: LimiterModel | undefined) {
    this.#inForce = inForce;
    this.#limiter = limiter;
  }

  /** What has happened since it was last asked. */
  settle(): Happened {
    while (this.#getters > 0 && (this.queue.length > 0 || this.#isOver)) {
      this.#getters--;
      this.#happened.served.push(this.get() ?? null);
    }
    if (this.#inForce.has("drained-is-done") && this.isShutDown && this.#isIdle)
      this.#happened.drained.push(...this.#drains.splice(0));
    const happened = this.#happened;
    this.#happened = { served: [], drained: [] };
    return happened;
  }

  add(key: number): void {
    if (this.isShutDown) return;
    if (this.#inForce.has("delayed-runs-once")) this.#waiting.remove(key);
    if (this.#dirty.has(key)) return;
    this.#dirty.set(key, this.#arrived++);
    if (!this.processing.has(key)) this.#push(key);
  }

  addAfter(key: number, delay: number): void {
    if (this.isShutDown) return;
    const runsAnyway = this.#inForce.has("delayed-runs-once") && this.#dirty.has(key);
    if (delay <= 0) this.add(key);
    else if (!runsAnyway) this.#waiting.insert(key, this.now + delay);
  }

  addRateLimited(key: number): number {
    const delay = this.#limiter?.when(key, this.now) ?? 0;
    this.addAfter(key, delay);
    return delay;
  }

  forget(key: number): void {
    this.#limiter?.forget(key);
  }

  requeues(key: number): number {
    return this.#limiter?.requeues(key) ?? 0;
  }

  /** Undefined when there is nothing. */
  get(): number | undefined {
    const key = this.queue.shift();
    if (key === undefined) return undefined;
    this.processing.add(key);
    this.held.push(key);
    this.#dirty.delete(key);
    return key;
  }

  wait(): void {
    this.#getters++;
  }

  done(key: number): void {
    const isHandedOut = this.processing.delete(key);
    if (this.held.includes(key)) this.held.splice(this.held.indexOf(key), 1);
    if (!isHandedOut && this.#inForce.has("done-is-of-a-hand-out")) return;
    if (this.#dirty.has(key)) {
      this.#push(key);
      this.#signal();
    } else if (this.processing.size === 0) this.#signal();
  }

  step(duration: number): void {
    this.now += duration;
    const due = this.#waiting.takeDue(this.now);
    if (this.#inForce.has("first-come-first-due"))
      due.sort((a: Waiting, b: Waiting) => a.at - b.at || a.order - b.order);
    for (const { key } of due) this.add(key);
  }

  shutDown(): void {
    this.isShutDown = true;
    this.#isDraining = false;
    for (let waiting = this.#drains.length; waiting > 0; waiting--) this.#signal();
  }

  /** Go wakes all drains before, which find nothing and line up behind this one. */
  drain(id: number): void {
    this.isShutDown = true;
    this.#isDraining = true;
    this.#drains.unshift(id);
    if (this.processing.size === 0) this.#signal();
  }

  #push(key: number): void {
    this.queue.push(key);
    this.#arrivals.set(key, this.#dirty.get(key) ?? this.#arrived);
    if (this.#inForce.has("in-order-of-adds"))
      this.queue.sort((a, b) => (this.#arrivals.get(a) ?? 0) - (this.#arrivals.get(b) ?? 0));
  }

  /** Whether no key comes any more; in Go, whether none is there. */
  get #isOver(): boolean {
    const isLast = this.#dirty.size === 0 || !this.#inForce.has("ends-with-the-last-key");
    return this.isShutDown && isLast;
  }

  get #isIdle(): boolean {
    return this.processing.size === 0 && this.queue.length === 0;
  }

  /** Wakes one drain: it looks whether it can end, and else goes to the back of the line. */
  #signal(): void {
    if (this.#inForce.has("drained-is-done")) return;
    for (const id of this.#drains.splice(0, 1)) {
      if (this.processing.size === 0 || !this.#isDraining) this.#happened.drained.push(id);
      else this.#drains.push(id);
    }
  }
}
