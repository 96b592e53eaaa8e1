import { onAbort } from "@holdfast/clock";

/** The list of a signal, behind one listener. */
interface AbortList {
  add(waiter: object): void;
  remove(waiter: object): void;
}

/** The methods of all lists: a subscription knows its list while it waits. */
function listMethods(): AbortList {
  using waiter = onAbort(new AbortController().signal, () => {});
  const { list } = waiter as Disposable & { readonly list: AbortList };
  return Object.getPrototypeOf(list) as AbortList;
}

/**
 * Counts the callbacks and sleeps that wait for an abort, of any signal, since this object was made. They share
 * a listener per signal, so `abortListeners` does not see them pile up.
 */
export class AbortCallbacks implements Disposable {
  readonly #methods = listMethods();
  readonly #original = { add: this.#methods.add, remove: this.#methods.remove };
  /** How many wait. */
  count = 0;

  constructor() {
    const { add, remove } = this.#original;
    const change = (by: number): void => {
      this.count += by;
    };
    this.#methods.add = function (waiter): void {
      change(1);
      add.call(this, waiter);
    };
    this.#methods.remove = function (waiter): void {
      change(-1);
      remove.call(this, waiter);
    };
  }

  [Symbol.dispose](): void {
    Object.assign(this.#methods, this.#original);
  }
}
