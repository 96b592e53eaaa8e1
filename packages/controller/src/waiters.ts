import { onAbort } from "@holdfast/clock";

interface Waiter<Value> {
  readonly resolve: (value: Value) => void;
  subscription: Disposable | undefined;
}

/** Promises that wait for the same event, in the order in which they were made: the one way to wake who waits. */
export class Waiters<Value> {
  readonly #pending = new Set<Waiter<Value>>();
  readonly #onLeave: () => void;

  /** @param onLeave - called when an abort has removed a promise */
  constructor(onLeave: () => void = () => {}) {
    this.#onLeave = onLeave;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Rejects with `signal.reason` if that aborts before the promise is resolved. */
  wait(signal: AbortSignal | undefined): Promise<Value> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter<Value> = { resolve, subscription: undefined };
      this.#pending.add(waiter);
      if (signal === undefined) return;
      waiter.subscription = onAbort(signal, (reason) => {
        this.#pending.delete(waiter);
        reject(reason);
        this.#onLeave();
      });
    });
  }

  /** Resolves the oldest promise; there must be one. */
  resolveFirst(value: Value): void {
    const [waiter] = this.#pending as Iterable<Waiter<Value>> as [Waiter<Value>];
    this.#pending.delete(waiter);
    waiter.subscription?.[Symbol.dispose]();
    waiter.resolve(value);
  }

  resolveAll(value: Value): void {
    while (this.#pending.size > 0) this.resolveFirst(value);
  }
}
