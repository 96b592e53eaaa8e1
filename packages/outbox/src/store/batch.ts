interface Call<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Combines all calls of one turn of the event loop into a batch, such as those of workers whose replies
 * arrived together. A call waits neither for later calls nor for a batch in flight.
 */
export class Batch<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  #calls: Call<Item, Result>[] = [];

  /** @param run - answers each item in its place; if it rejects, each call does */
  constructor(run: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#run = run;
  }

  call(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#calls.length === 0) queueMicrotask(() => void this.#flush());
      this.#calls.push({ item, resolve, reject });
    });
  }

  async #flush(): Promise<void> {
    const calls = this.#calls;
    this.#calls = [];
    try {
      const results = await this.#run(calls.map(({ item }) => item));
      for (const [i, { resolve }] of calls.entries()) resolve(results[i] as Result);
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }
}
