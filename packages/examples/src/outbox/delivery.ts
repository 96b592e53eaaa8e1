import { type Clock, onAbort } from "@holdfast/clock";
import type { ResourceLock } from "@holdfast/controller";
import { isTimeoutError, poll, seededRandom } from "@holdfast/wait";
import { until } from "@holdfast/wait/go";
import { type Audit, audit } from "./audit.ts";
import type { ProgramDatabase } from "./database/program-database.ts";
import { killSome } from "./killing.ts";
import { NOTHING_SEEN, type Observation, observe } from "./observe.ts";
import { isTakenBack } from "./order.ts";
import type { Progress } from "./progress.ts";
import type { Inbox } from "./receiver/inbox.ts";
import type { Overlap } from "./receiver/overlap.ts";
import type { Settings } from "./settings.ts";
import type { Report } from "./worker/report.ts";
import { type Departure, WorkerPool } from "./worker-pool.ts";

/** How often to look, in milliseconds. */
const PERIOD = 200;

/** After this many unexpected exits, the other workers would exit, too. */
const MOST_FAILED = 5;

/** Time for the receiver to handle the last messages, in milliseconds. */
const DRAIN_TIMEOUT = 60_000;

/** Options for {@link Delivery}. */
export interface DeliveryOptions {
  readonly settings: Settings;
  readonly tables: ProgramDatabase;
  readonly inbox: Inbox;
  readonly lock: ResourceLock;
  readonly redisUrl: string | undefined;
  readonly clock: Clock;
  readonly onProgress: (progress: Progress) => void;
  /** Called with every event of a worker, or of the run. */
  readonly onNews: (text: string, worker?: string) => void;
}

/** The end of a delivery. */
export interface Outcome {
  /** False if it was stopped before. */
  readonly isSettled: boolean;
  readonly progress: Progress;
  readonly audit: Audit;
  /** Whether the receiver has handled all that was sent to it. */
  readonly isIdle: boolean;
  /** Messages that were in the hands of two at once. */
  readonly overlapping: readonly Overlap[];
  /** Workers that exited unexpectedly, or on a foreign signal. */
  readonly failed: number;
}

/** Places orders, kills workers, and waits until every message has arrived or is given up. */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #orders: readonly number[];
  readonly #pool: WorkerPool;
  readonly #start: number;
  #state: Progress["state"] = "running";
  #observation: Observation = NOTHING_SEEN;
  /** The error of the last look. */
  #trouble: Error | undefined;
  readonly #placed = new Set<number>();
  #killed = 0;
  #failed = 0;
  #expired = 0;

  constructor(options: DeliveryOptions) {
    const { settings, tables, inbox, redisUrl, clock } = options;
    this.#options = options;
    this.#orders = Array.from({ length: settings.messages }, (_, index) => index + 1);
    this.#start = clock.monotonic();
    const common = { database: tables.name, databaseUrl: tables.url, target: inbox.url, redisUrl };
    this.#pool = new WorkerPool({
      size: settings.workers,
      clock,
      optionsOf: (number) => ({ ...common, name: `worker-${number}` }),
      onReport: (report, worker) => this.#hear(report, worker),
      onExit: (departure, worker) => this.#mourn(departure, worker),
    });
    this.#pool.place(this.#orders);
  }

  /**
   * Runs until all is settled, or the signal aborts. Nothing of it runs afterwards.
   *
   * @param kill - its abort kills the workers at once
   * @returns the figures. It rejects if the database does not respond at the end
   */
  async run(signal: AbortSignal, kill: AbortSignal): Promise<Outcome> {
    const { tables, inbox } = this.#options;
    using _ = onAbort(kill, () => this.#pool.killAll());
    const stop = new AbortController();
    if (signal.aborted) stop.abort();
    const working = this.#pool.run(stop.signal);
    let isSettled = false;
    try {
      isSettled = await this.#settle(signal);
    } finally {
      this.#state = "stopping";
      this.#tell();
      stop.abort();
      await working;
    }
    const isIdle = await this.#drained();
    await this.#look(new AbortController().signal);
    this.#tell();
    const facts = { orders: this.#orders, placed: this.#placed, seen: inbox.ledger.ids };
    return {
      isSettled,
      isIdle,
      failed: this.#failed,
      progress: this.progress,
      audit: await audit(facts, tables.database),
      overlapping: inbox.ledger.overlaps,
    };
  }

  /** Kills one worker without a warning; false if there is none of this name. */
  kill(worker: string): boolean {
    return this.#pool.kill(worker);
  }

  get progress(): Progress {
    const { settings, inbox, clock } = this.#options;
    return {
      ...this.#observation,
      state: this.#state,
      trouble: this.#trouble?.message,
      elapsed: clock.monotonic() - this.#start,
      messages: settings.messages,
      open: this.#pool.open,
      takenBack: [...this.#placed].filter(isTakenBack).length,
      received: inbox.ledger.counts,
      workers: this.#pool.members,
      killed: this.#killed,
      expired: this.#expired,
    };
  }

  async #settle(signal: AbortSignal): Promise<boolean> {
    const { settings, inbox, clock, onNews } = this.#options;
    const { kills, messages, seed, keep } = settings;
    let isKilling = true;
    const end = new AbortController();
    using _ = onAbort(signal, () => end.abort());
    const arrived = (): number => inbox.ledger.counts.effects;
    const random = seededRandom(seed);
    const killing = killSome(
      this.#pool,
      { kills, messages, arrived, clock, random },
      end.signal,
    ).finally(() => {
      isKilling = false;
    });
    const watch = async (): Promise<void> => {
      const isPlaced = this.#pool.open === 0;
      await this.#look(end.signal);
      if (this.#failed >= MOST_FAILED) end.abort();
      const isSettled = isPlaced && !isKilling && (await this.#isSettled());
      if (isSettled && this.#state === "running") onNews("every message has arrived or is dead");
      this.#state = isSettled ? "settled" : "running";
      this.#tell();
      if (isSettled && !keep) end.abort();
    };
    const onError = (error: unknown): void => {
      if (end.signal.aborted) return;
      this.#trouble = error as Error; // The database is briefly unreachable.
      this.#tell();
    };
    await until(watch, PERIOD, end.signal, { clock, onError });
    await killing;
    return this.#state === "settled";
  }

  async #isSettled(): Promise<boolean> {
    const { pending, retrying } = this.#observation.statuses;
    return pending + retrying === 0 && (await this.#options.inbox.isIdle());
  }

  /** Waits for messages sent but not handled, which would count as lost otherwise. */
  async #drained(): Promise<boolean> {
    const { inbox, clock } = this.#options;
    try {
      const backoff = { duration: PERIOD };
      await poll(() => inbox.isIdle(), { backoff, timeout: DRAIN_TIMEOUT, clock });
      return true;
    } catch (error) {
      if (isTimeoutError(error)) return false;
      throw error;
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { tables, lock } = this.#options;
    this.#observation = await observe({ tables, lock }, signal);
    this.#trouble = undefined;
  }

  #tell(): void {
    this.#options.onProgress(this.progress);
  }

  #hear(report: Report, worker: string): void {
    if (report.type === "placed") this.#placed.add(report.order);
    if (report.type === "ready") this.#options.onNews("is at work", worker);
    if (report.type === "event" && report.kind === "expired") this.#expired++;
  }

  #mourn(departure: Departure, worker: string): void {
    if (departure === "killed") this.#killed++;
    if (departure === "failed") this.#failed++;
    const text = { killed: "was killed", failed: "exited unexpectedly", stopped: "has stopped" };
    this.#options.onNews(text[departure], worker);
  }
}
