import { listenForAbort } from "../host/platform.ts";

/** An entry of an {@link AbortList}: a doubly linked node, so that leaving costs the same at any size. */
export abstract class AbortWaiter {
  /** The list this entry is linked into, if any. */
  list: AbortList | undefined = undefined;
  previous: AbortWaiter | undefined = undefined;
  next: AbortWaiter | undefined = undefined;

  /** Does nothing outside a list: an entry may leave from both ends of a race. */
  leave(): void {
    this.list?.remove(this);
  }

  /** Called once, when the signal aborts and this entry has left the list. */
  abstract onAbort(reason: unknown): void;
}

/**
 * All waits on one signal, behind one listener.
 *
 * Node searches all listeners of a signal whenever one is added, so n waits with a listener each cost
 * n² (nodejs/performance#60). The listener exists exactly while the list is not empty.
 */
export class AbortList {
  static readonly #bySignal = new WeakMap<AbortSignal, AbortList>();

  readonly #signal: AbortSignal;
  readonly #listener = this.notify.bind(this);
  /** Removes the listener; set while the list is not empty. */
  #unlisten!: () => void;
  #first: AbortWaiter | undefined = undefined;
  #last: AbortWaiter | undefined = undefined;

  private constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** The list of a signal; each signal has one. */
  static of(signal: AbortSignal): AbortList {
    let list = AbortList.#bySignal.get(signal);
    if (list === undefined) {
      list = new AbortList(signal);
      AbortList.#bySignal.set(signal, list);
    }
    return list;
  }

  add(waiter: AbortWaiter): void {
    waiter.list = this;
    waiter.previous = this.#last;
    if (this.#last === undefined) {
      this.#first = waiter;
      this.#unlisten = listenForAbort(this.#signal, this.#listener);
    } else {
      this.#last.next = waiter;
    }
    this.#last = waiter;
  }

  remove(waiter: AbortWaiter): void {
    const { previous, next } = waiter;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    waiter.list = undefined;
    waiter.previous = undefined;
    waiter.next = undefined;
    if (this.#first === undefined) this.#unlisten();
  }

  /**
   * Passes the abort to the entries in the order they were added, even if one of them throws. Called by
   * the listener, or by an entry that notices the abort before the listener.
   */
  notify(): void {
    const errors: unknown[] = [];
    for (let waiter = this.#first; waiter !== undefined; waiter = this.#first) {
      this.remove(waiter);
      try {
        waiter.onAbort(this.#signal.reason);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length === 0) return;
    throw errors.length === 1
      ? errors[0]
      : new AggregateError(errors, "several abort callbacks threw");
  }
}
