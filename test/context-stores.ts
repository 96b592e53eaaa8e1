import { AsyncLocalStorage } from "node:async_hooks";

type Use = (...args: unknown[]) => unknown;

/**
 * The context stores that are used from when this is made until it is disposed, those of libraries too.
 *
 * On Node 20 each promise of the process costs more from the first use of one on, until it is disabled.
 */
export class ContextStores implements Disposable {
  readonly #used = new Set<AsyncLocalStorage<unknown>>();
  readonly #real = new Map<"run" | "enterWith", Use>();

  constructor() {
    const used = this.#used;
    for (const method of ["run", "enterWith"] as const) {
      const real = AsyncLocalStorage.prototype[method] as Use;
      this.#real.set(method, real);
      replace(method, function (...args) {
        used.add(this);
        return Reflect.apply(real, this, args);
      });
    }
  }

  /** Disables all of them; a later use enables one again. */
  [Symbol.dispose](): void {
    for (const [method, real] of this.#real) replace(method, real);
    for (const store of this.#used) store.disable();
  }
}

function replace(
  method: "run" | "enterWith",
  value: (this: AsyncLocalStorage<unknown>, ...args: unknown[]) => unknown,
): void {
  Object.assign(AsyncLocalStorage.prototype, { [method]: value });
}
