import { listenForAbort } from "../host/platform.ts";

/** An entry of an {@link AbortList}: a doubly linked node, so that leaving costs the same at any size. */
export abstract class AbortWaiter implements Disposable {
  /** The list this entry is linked into, if any. */
  list: AbortList | undefined = undefined;
  previous: AbortWaiter | undefined = undefined;
  next: AbortWaiter | undefined = undefined;

  /** Leaves the list. Does nothing outside one: an entry may leave from both ends of a race. */
  [Symbol.dispose](): void {
    this.list?.remove(this);
  }

  /** Called once, when the signal aborts and this entry has left the list. */
  abstract onAbort(reason: unknown): void;
}

/** Calls back at an abort. */
export class AbortCallback extends AbortWaiter {
  readonly #callback: (reason: unknown) => void;

  constructor(callback: (reason: unknown) => void) {
    super();
    this.#callback = callback;
  }

  override onAbort(reason: unknown): void {
    this.#callback(reason);
  }
}

/**
 * All waits that one abort ends: those on a signal, behind one listener, or those of an owner, which notifies them.
 *
 * Node searches all listeners of a signal whenever one is added, so n waits with a listener each cost
 * n² (nodejs/performance#60). The listener exists exactly while the list is not empty.
 */
export class AbortList {
  static readonly #bySignal = new WeakMap<AbortSignal, AbortList>();

  /** The signal to listen to; undefined if an owner notifies the list. */
  readonly #source: AbortSignal | undefined;
  /** Removes the listener; set while the list of a signal is not empty. */
  #unlisten: (() => void) | undefined = undefined;
  #first: AbortWaiter | undefined = undefined;
  #last: AbortWaiter | undefined = undefined;

  /** @param source - the signal to listen to; without it, an owner calls {@link AbortList.notify} */
  constructor(source?: AbortSignal) {
    this.#source = source;
  }

  /**
   * The list of a signal; each signal has one.
   *
   * @param own - the list of its owner, before anything waits on the signal
   */
  static of(signal: AbortSignal, own?: AbortList): AbortList {
    let list = AbortList.#bySignal.get(signal);
    if (list === undefined) {
      list = own ?? new AbortList(signal);
      AbortList.#bySignal.set(signal, list);
    }
    return list;
  }

  add(waiter: AbortWaiter): void {
    waiter.list = this;
    waiter.previous = this.#last;
    if (this.#last === undefined) {
      this.#first = waiter;
      if (this.#source !== undefined)
        this.#unlisten = listenForAbort(this.#source, () => this.notify());
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
    if (this.#first === undefined) this.#unlisten?.();
  }

  /**
   * Passes the abort to the entries in the order they were added, even if one of them throws. Called by
   * the listener, by the owner with its reason, or by an entry that notices the abort before the listener.
   */
  notify(reason: unknown = this.#source?.reason): void {
    const errors: unknown[] = [];
    for (let waiter = this.#first; waiter !== undefined; waiter = this.#first) {
      this.remove(waiter);
      try {
        waiter.onAbort(reason);
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
