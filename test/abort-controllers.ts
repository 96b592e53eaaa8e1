/** Counts the `AbortController` that are made since this object was. Their signals cost more than they do. */
export class AbortControllers implements Disposable {
  readonly #original = globalThis.AbortController;
  count = 0;

  constructor() {
    const made = (): void => {
      this.count++;
    };
    globalThis.AbortController = class extends this.#original {
      constructor() {
        super();
        made();
      }
    };
  }

  [Symbol.dispose](): void {
    globalThis.AbortController = this.#original;
  }
}
