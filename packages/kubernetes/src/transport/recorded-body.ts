/** The body of a response, as a recording or a replay delivers it. */
export class RecordedBody implements AsyncIterable<Uint8Array> {
  readonly #onLeave: () => void;
  readonly #chunks: Uint8Array[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wake: () => void = () => {};

  /** @param onLeave - called when the iteration is left before the end */
  constructor(onLeave: () => void) {
    this.#onLeave = onLeave;
  }

  push(chunk: Uint8Array): void {
    if (chunk.length > 0) this.#chunks.push(chunk);
    this.#wake();
  }

  end(): void {
    this.#end ??= {};
    this.#wake();
  }

  /** Chunks that nobody has read are dropped, as those of a connection. */
  fail(error: unknown): void {
    this.#chunks.length = 0;
    this.#end = { error };
    this.#wake();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    return {
      next: () => this.#next(),
      return: async () => {
        this.#onLeave();
        this.#end = {};
        this.#chunks.length = 0;
        return { done: true, value: undefined };
      },
    };
  }

  async #next(): Promise<IteratorResult<Uint8Array, undefined>> {
    while (this.#chunks.length === 0 && this.#end === undefined)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) return { done: false, value: chunk };
    if (this.#end !== undefined && "error" in this.#end) throw this.#end.error;
    return { done: true, value: undefined };
  }
}
