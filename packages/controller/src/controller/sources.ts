import type { Clock } from "@holdfast/clock";
import type { Random } from "@holdfast/wait";
import type { Source } from "../source/source.ts";
import { Waiters } from "../waiters.ts";
import type { SourceStatus } from "./controller-status.ts";
import { SourceRunner } from "./source-runner.ts";
import type { Workers } from "./workers.ts";

/** Options for {@link Sources}. */
export interface SourcesOptions<Item> {
  readonly clock: Clock;
  readonly random: Random | undefined;
  readonly workers: Pick<Workers<Item>, "add">;
  readonly onError: (error: unknown, source: string, message: string) => void;
  /** Called once: the data that reconciles read is complete, and the sources start. */
  readonly onBegin: () => void;
  /** Called when a source has ended. */
  readonly onEnd: () => void;
}

/** The sources of a controller. They begin together, when all of them are ready; those that are added later alone. */
export class Sources<Item> {
  /** Whether all were ready. */
  hasBegun = false;
  readonly #options: SourcesOptions<Item>;
  readonly #runners: SourceRunner<Item>[] = [];
  /** Ends of the sources that were started. */
  readonly #ends = new Set<Promise<void>>();
  /** Sources that wait for the others. */
  readonly #ready = new Waiters<void>();
  /** Who waits until all sources have told all items. */
  readonly #told = new Waiters<void>();
  /** Starts a source in the run. Undefined before it. */
  #start: ((runner: SourceRunner<Item>) => void) | undefined = undefined;

  constructor(options: SourcesOptions<Item>) {
    this.#options = options;
  }

  get areOver(): boolean {
    return this.#runners.every(({ isOver }) => isOver);
  }

  /** Whether each source has told all items that exist. */
  get haveTold(): boolean {
    return this.#runners.every(({ hasTold }) => hasTold);
  }

  /** Resolves when that is so. */
  async told(signal: AbortSignal): Promise<void> {
    while (!this.haveTold) await this.#told.wait(signal);
  }

  status(): SourceStatus[] {
    return this.#runners.map((runner) => runner.status());
  }

  /** @param removal - ends and removes the source. Undefined: it ends with the others */
  add(source: Source<Item>, removal: AbortSignal | undefined): void {
    const { onBegin: _, onEnd: __, ...rest } = this.#options;
    const runner = new SourceRunner(source, {
      ...rest,
      signal: removal,
      othersReady: (signal) => (this.hasBegun ? undefined : this.#ready.wait(signal)),
      onReady: () => this.#begin(),
      onTold: () => this.#told.resolveAll(),
    });
    this.#runners.push(runner);
    this.#start?.(runner);
  }

  /** Starts the sources, and from now on each that is added. */
  start(stop: AbortSignal, isSharded: boolean): void {
    this.#begin();
    this.#start = (runner) => {
      const end = runner.run(stop, isSharded).then(() => {
        this.#ends.delete(end);
        if (!stop.aborted && runner.isRemoved) this.#remove(runner);
        this.#told.resolveAll();
        this.#options.onEnd();
      });
      this.#ends.add(end);
    };
    for (const runner of [...this.#runners]) this.#start(runner);
  }

  /** Resolves when those that were started have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#ends);
  }

  /** Has the sources report the items for which `isWanted` returns true; see `Replays`. */
  replay(isWanted: (item: Item) => boolean): void {
    for (const runner of this.#runners) runner.replay(isWanted);
  }

  /** The controller has stopped: later errors are dropped. */
  close(): void {
    for (const runner of this.#runners) runner.close();
  }

  /** Forgets a source. The others may have waited for it. */
  #remove(runner: SourceRunner<Item>): void {
    this.#runners.splice(this.#runners.indexOf(runner), 1);
    this.#begin();
  }

  #begin(): void {
    if (this.hasBegun || !this.#runners.every(({ isReady }) => isReady)) return;
    this.hasBegun = true;
    this.#options.onBegin();
    this.#ready.resolveAll();
  }
}
