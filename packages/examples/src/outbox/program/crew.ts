import { type Clock, onAbort, type Timer } from "@holdfast/clock";
import { backoffUntil, ExponentialBackoffManager } from "@holdfast/wait";
import type { Report } from "./worker/report.ts";
import { type Exit, Worker } from "./worker/worker.ts";
import type { WorkerOptions } from "./worker/worker-options.ts";

/** What a {@link Crew} is made of. */
export interface CrewOptions {
  readonly size: number;
  readonly clock: Clock;
  /** Options of the `number`-th process that is started, from 1. */
  readonly optionsOf: (number: number) => WorkerOptions;
  readonly onReport: (report: Report) => void;
  readonly onExit: (exit: Exit) => void;
}

/** How long a dead worker's place stays empty. Milliseconds, and a factor. */
const RESTART = { duration: 200, factor: 2, cap: 5_000, jitter: 0.2, resetAfter: 15_000 };

/** How long workers may take to end when they are asked to, in milliseconds. */
const PATIENCE = 60_000;

/** How many orders a worker is given at a time. */
const ORDERS_AT_A_TIME = 20;

/**
 * Worker processes that are started again when they die, and orders that are placed again when their
 * worker dies before it says that they are.
 */
export class Crew {
  readonly #options: CrewOptions;
  /** Those that have said that they are ready, with the orders that they were given. */
  readonly #workers = new Map<Worker, Set<number>>();
  /** All processes that have not ended. */
  readonly #processes = new Set<Worker>();
  /** Orders that nobody was given. */
  readonly #orders: number[] = [];
  #started = 0;

  constructor(options: CrewOptions) {
    this.#options = options;
  }

  /** Workers that are at work. */
  get workers(): readonly Worker[] {
    return [...this.#workers.keys()].filter(({ isKilled }) => !isKilled);
  }

  /** How many orders are not known to be placed. */
  get open(): number {
    let count = this.#orders.length;
    for (const orders of this.#workers.values()) count += orders.size;
    return count;
  }

  place(orders: readonly number[]): void {
    this.#orders.push(...orders);
    for (const worker of this.#workers.keys()) this.#feed(worker);
  }

  /** Keeps the workers alive until the signal aborts, then lets them finish. */
  async run(signal: AbortSignal): Promise<void> {
    const { size, clock } = this.#options;
    const places = Array.from({ length: size }, async () => {
      const manager = new ExponentialBackoffManager({ ...RESTART, clock });
      await backoffUntil(() => this.#employ(signal), manager, true, signal);
    });
    await Promise.all(places);
  }

  /** For somebody who does not want to wait. */
  kill(): void {
    for (const worker of this.#processes) worker.kill();
  }

  async #employ(signal: AbortSignal): Promise<void> {
    const { clock, optionsOf, onReport, onExit } = this.#options;
    const worker = new Worker(optionsOf(++this.#started), (report) => {
      if (report.type === "ready") this.#hire(worker);
      if (report.type === "placed") this.#placed(worker, report.order);
      onReport(report);
    });
    this.#processes.add(worker);
    let limit: Timer | undefined;
    using _ = onAbort(signal, () => {
      worker.stop();
      limit = clock.afterFunc(PATIENCE, () => worker.kill(), { label: "end of a worker" });
    });
    const exit = await worker.exited;
    limit?.stop();
    this.#processes.delete(worker);
    const unplaced = this.#workers.get(worker) ?? [];
    this.#workers.delete(worker);
    this.place([...unplaced]);
    onExit(exit);
  }

  #hire(worker: Worker): void {
    this.#workers.set(worker, new Set());
    this.#feed(worker);
  }

  #placed(worker: Worker, order: number): void {
    this.#workers.get(worker)?.delete(order);
    this.#feed(worker);
  }

  #feed(worker: Worker): void {
    const given = this.#workers.get(worker);
    if (given === undefined || worker.isKilled) return;
    while (given.size < ORDERS_AT_A_TIME) {
      const order = this.#orders.shift();
      if (order === undefined) return;
      given.add(order);
      worker.place(order);
    }
  }
}
