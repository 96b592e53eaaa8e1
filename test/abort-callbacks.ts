import { AbortList } from "@holdfast/clock/internal";

/**
 * Counts the callbacks and sleeps that wait for an abort, of any signal, since this object was made. They share
 * a listener per signal, so `abortListeners` does not see them pile up.
 */
export class AbortCallbacks implements Disposable {
  readonly #original = { add: AbortList.prototype.add, remove: AbortList.prototype.remove };
  /** How many wait. */
  count = 0;

  constructor() {
    const { add, remove } = this.#original;
    const change = (by: number): void => {
      this.count += by;
    };
    AbortList.prototype.add = function (waiter): void {
      change(1);
      add.call(this, waiter);
    };
    AbortList.prototype.remove = function (waiter): void {
      change(-1);
      remove.call(this, waiter);
    };
  }

  [Symbol.dispose](): void {
    Object.assign(AbortList.prototype, this.#original);
  }
}
