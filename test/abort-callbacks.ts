import { AbortList } from "../packages/clock/src/abort/abort-list.ts";

/**
 * Counts the callbacks and sleeps that wait for an abort, of any signal, since this object was made. They share
 * a listener per signal, so `abortListeners` does not see them pile up. Counts the sources alone: 0 with
 * TEST_DIST=1.
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
