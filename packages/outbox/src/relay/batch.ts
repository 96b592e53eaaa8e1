import type { Clock, Timer } from "@holdfast/clock";

interface Call<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/** Options for {@link Batch}. */
export interface BatchOptions<Item, Result> {
  readonly clock: Clock;
  /** Maximum time that a call waits for others, in milliseconds. */
  readonly delay: number;
  /** Maximum number of calls in a batch. */
  readonly limit: number;
  /** Returns a result for each item, in order. If it rejects, each call does. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
}

/** Combines calls that come shortly after one another. A call waits for no batch under way. */
export class Batch<Item, Result> {
  readonly #options: BatchOptions<Item, Result>;
  #calls: Call<Item, Result>[] = [];
  #timer: Timer | undefined;

  constructor(options: BatchOptions<Item, Result>) {
    this.#options = options;
  }

  call(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#calls.push({ item, resolve, reject });
      if (this.#calls.length >= this.#options.limit) this.flush();
      else this.#arm();
    });
  }

  /** Runs the calls that wait, if there are any: none will join them soon. */
  flush(): void {
    this.#timer?.stop();
    const calls = this.#calls;
    this.#calls = [];
    if (calls.length > 0) void this.#run(calls);
  }

  #arm(): void {
    const { clock, delay } = this.#options;
    if (this.#calls.length > 1) return; // The first call has armed it.
    if (this.#timer === undefined)
      this.#timer = clock.afterFunc(delay, () => this.flush(), { label: "outcomes" });
    else this.#timer.reset(delay);
  }

  async #run(calls: readonly Call<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.run(calls.map(({ item }) => item));
      for (const [i, { resolve }] of calls.entries()) resolve(results[i] as Result);
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }
}
