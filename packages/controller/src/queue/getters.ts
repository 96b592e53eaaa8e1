import { onAbort } from "@holdfast/clock";

interface Getter<Value> {
  readonly resolve: (value: Value) => void;
  subscription: Disposable | undefined;
}

/** Who waits for something to be handed out, first come, first served. */
export class Getters<Value> {
  readonly #waiting = new Set<Getter<Value>>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Resolves when it is this one's turn; rejects with the signal's reason if that aborts first. */
  wait(signal: AbortSignal | undefined): Promise<Value> {
    return new Promise((resolve, reject) => {
      const getter: Getter<Value> = { resolve, subscription: undefined };
      this.#waiting.add(getter);
      if (signal === undefined) return;
      getter.subscription = onAbort(signal, (reason) => {
        this.#waiting.delete(getter);
        reject(reason);
      });
    });
  }

  /** Serves whoever has waited longest; there must be one. */
  serve(value: Value): void {
    const [getter] = this.#waiting as Iterable<Getter<Value>> as [Getter<Value>];
    this.#waiting.delete(getter);
    getter.subscription?.[Symbol.dispose]();
    getter.resolve(value);
  }
}
