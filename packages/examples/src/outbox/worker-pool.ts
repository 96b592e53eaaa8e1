import { type Clock, onAbort, type Timer } from "@holdfast/clock";
import { backoffUntil, ExponentialBackoffManager } from "@holdfast/wait";
import type { Report } from "./worker/report.ts";
import { type Exit, Worker } from "./worker/worker.ts";
import type { WorkerOptions } from "./worker/worker-options.ts";

/** One process of a pool. */
export interface Member {
  readonly name: string;
  readonly pid: number | undefined;
  readonly state: "starting" | "working" | "killed";
}

/**
 * How a worker ended.
 *
 * | Departure | Meaning |
 * | --- | --- |
 * | `stopped` | it was asked to, even if it was killed because it took too long |
 * | `killed` | it was killed while it should continue |
 * | `failed` | it exited unexpectedly, or on another signal |
 */
export type Departure = "stopped" | "killed" | "failed";

/** Options for {@link WorkerPool}. */
export interface WorkerPoolOptions {
  readonly size: number;
  readonly clock: Clock;
  /** Options of the `number`-th process that is started, from 1. */
  readonly optionsOf: (number: number) => WorkerOptions;
  readonly onReport: (report: Report, worker: string) => void;
  readonly onExit: (departure: Departure, worker: string) => void;
  /**
   * Starts a process.
   *
   * @defaultValue a `Worker`
   */
  readonly start?: typeof startWorker;
}

/** How long a dead worker's place stays empty. Milliseconds, and a factor. */
const RESTART = { duration: 200, factor: 2, cap: 5_000, jitter: 0.2, resetAfter: 15_000 };

/** How long workers may take to end when they are asked to, in milliseconds. */
const STOP_TIMEOUT = 60_000;

/** How many orders a worker is given at a time. */
const ORDERS_AT_A_TIME = 20;

function startWorker(options: WorkerOptions, onReport: (report: Report) => void): Worker {
  return new Worker(options, onReport);
}

/**
 * Worker processes that are started again when they die, and orders that are placed again when their
 * worker dies before it says that they are.
 */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  /** Those that have said that they are ready, with the orders that they were given. */
  readonly #workers = new Map<Worker, Set<number>>();
  /** All processes that have not ended. */
  readonly #processes = new Set<Worker>();
  /** Orders without a worker. */
  readonly #orders: number[] = [];
  #started = 0;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  /** Workers that are at work. */
  get workers(): readonly Worker[] {
    return [...this.#workers.keys()].filter(({ isKilled }) => !isKilled);
  }

  /** All processes that have not ended. */
  get members(): readonly Member[] {
    return [...this.#processes].map((worker) => {
      const state = this.#workers.has(worker) ? "working" : "starting";
      return { name: worker.name, pid: worker.pid, state: worker.isKilled ? "killed" : state };
    });
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

  /** @returns false if no worker has this name */
  kill(name: string): boolean {
    const worker = [...this.#processes].find((each) => each.name === name && !each.isKilled);
    worker?.kill();
    return worker !== undefined;
  }

  /** Kills all workers at once. */
  killAll(): void {
    for (const worker of this.#processes) worker.kill();
  }

  async #employ(signal: AbortSignal): Promise<void> {
    const { clock, optionsOf, onReport, onExit, start = startWorker } = this.#options;
    const worker = start(optionsOf(++this.#started), (report) => {
      if (report.type === "ready") this.#hire(worker);
      if (report.type === "placed") this.#placed(worker, report.order);
      onReport(report, worker.name);
    });
    this.#processes.add(worker);
    let limit: Timer | undefined;
    using _ = onAbort(signal, () => {
      worker.stop();
      limit = clock.afterFunc(STOP_TIMEOUT, () => worker.kill(), { label: "end of a worker" });
    });
    const exit = await worker.exited;
    limit?.stop();
    this.#processes.delete(worker);
    const unplaced = this.#workers.get(worker) ?? [];
    this.#workers.delete(worker);
    this.place([...unplaced]);
    onExit(signal.aborted ? "stopped" : departureOf(exit), worker.name);
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

/** Of a worker that was not asked to stop by its pool. */
function departureOf({ code, signal }: Exit): Departure {
  if (signal === "SIGKILL") return "killed";
  return code === 0 ? "stopped" : "failed";
}
