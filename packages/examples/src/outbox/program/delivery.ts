import { type Clock, onAbort } from "@holdfast/clock";
import type { ResourceLock } from "@holdfast/controller";
import { seededRandom } from "@holdfast/wait";
import { until } from "@holdfast/wait/go";
import { PostgresStore } from "../store/postgres-store.ts";
import { type Audit, audit } from "./audit.ts";
import { Crew } from "./crew.ts";
import type { ProgramDatabase } from "./database/program-database.ts";
import { killSome } from "./killing.ts";
import { type Observation, observe } from "./observe.ts";
import { isTakenBack } from "./order.ts";
import type { Progress } from "./progress.ts";
import type { Inbox } from "./receiver/inbox.ts";
import type { Overlap } from "./receiver/overlap.ts";
import type { Settings } from "./settings.ts";
import type { Report } from "./worker/report.ts";
import type { Exit } from "./worker/worker.ts";

/** How often to look, in milliseconds. */
const PERIOD = 200;

/** When so many workers have ended by themselves, the others will, too. */
const MOST_FAILED = 5;

/** What a {@link Delivery} is made of. */
export interface DeliveryOptions {
  readonly settings: Settings;
  readonly tables: ProgramDatabase;
  readonly inbox: Inbox;
  readonly lock: ResourceLock;
  readonly redisUrl: string | undefined;
  readonly clock: Clock;
  readonly onProgress: (progress: Progress) => void;
}

/** How a delivery ended. */
export interface Outcome {
  /** False if it was stopped before. */
  readonly isSettled: boolean;
  readonly progress: Progress;
  readonly audit: Audit;
  /** Messages that were in the hands of two at once. */
  readonly overlapping: readonly Overlap[];
  /** Workers that ended by themselves, or of a signal that nobody here sent. */
  readonly failed: number;
}

/** Places orders, kills workers, and waits until every message has arrived or is given up. */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #orders: readonly number[];
  readonly #crew: Crew;
  readonly #start: number;
  readonly #store: PostgresStore;
  #observation: Observation = {
    statuses: { pending: 0, failed: 0, success: 0, dead: 0 },
    nextAttempt: undefined,
    holder: undefined,
  };
  /** What the last look failed with. */
  #trouble: Error | undefined;
  readonly #takenBack = new Set<number>();
  #killed = 0;
  #failed = 0;
  #orphans = 0;

  constructor(options: DeliveryOptions) {
    const { settings, tables, inbox, redisUrl, clock } = options;
    this.#options = options;
    this.#orders = Array.from({ length: settings.messages }, (_, index) => index + 1);
    this.#start = clock.monotonic();
    this.#store = new PostgresStore(tables.database);
    this.#crew = new Crew({
      size: settings.workers,
      clock,
      optionsOf: (number) => ({
        name: `worker-${number}`,
        databaseUrl: tables.url,
        target: inbox.url,
        redisUrl,
      }),
      onReport: (report) => this.#hear(report),
      onExit: (exit) => this.#mourn(exit),
    });
    this.#crew.place(this.#orders);
  }

  /** Runs until all is settled, or the signal aborts. Nothing of it runs afterwards. */
  async run(signal: AbortSignal): Promise<Outcome> {
    const { tables, inbox } = this.#options;
    const stop = new AbortController();
    const working = this.#crew.run(stop.signal);
    let isSettled = false;
    try {
      isSettled = await this.#settle(signal);
    } finally {
      stop.abort();
      await working;
    }
    await this.#look(new AbortController().signal);
    return {
      isSettled,
      progress: this.#progress,
      audit: await audit(this.#orders, inbox.ledger.ids, tables.database),
      overlapping: inbox.ledger.overlaps,
      failed: this.#failed,
    };
  }

  /** For somebody who does not want to wait for the end. */
  kill(): void {
    this.#crew.kill();
  }

  async #settle(signal: AbortSignal): Promise<boolean> {
    const { settings, inbox, clock } = this.#options;
    const { kills, messages, seed } = settings;
    let isSettled = false;
    let isKilling = true;
    const end = new AbortController();
    using _ = onAbort(signal, () => end.abort());
    const arrived = (): number => inbox.ledger.counts.effects;
    const random = seededRandom(seed);
    const killing = killSome(
      this.#crew,
      { kills, messages, arrived, clock, random },
      end.signal,
    ).finally(() => {
      isKilling = false;
    });
    const watch = async (): Promise<void> => {
      const isPlaced = this.#crew.open === 0;
      await this.#look(end.signal);
      if (this.#failed >= MOST_FAILED) end.abort();
      if (!isPlaced || isKilling || !(await this.#isSettled())) return;
      isSettled = true;
      end.abort();
    };
    const onError = (error: unknown): void => {
      this.#trouble = error as Error; // The database is away for a moment.
    };
    await until(watch, PERIOD, end.signal, { clock, onError });
    await killing;
    if (!isSettled && this.#trouble !== undefined) throw this.#trouble;
    return isSettled;
  }

  async #isSettled(): Promise<boolean> {
    const { pending, failed } = this.#observation.statuses;
    return pending + failed === 0 && (await this.#options.inbox.isIdle());
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { lock, clock, onProgress } = this.#options;
    this.#observation = await observe({ store: this.#store, lock, clock }, signal);
    this.#trouble = undefined;
    onProgress(this.#progress);
  }

  get #progress(): Progress {
    const { settings, inbox, clock } = this.#options;
    return {
      ...this.#observation,
      elapsed: clock.monotonic() - this.#start,
      messages: settings.messages,
      open: this.#crew.open,
      takenBack: this.#takenBack.size,
      received: inbox.ledger.counts,
      workers: this.#crew.workers.map(({ name }) => name),
      killed: this.#killed,
      orphans: this.#orphans,
    };
  }

  #hear(report: Report): void {
    if (report.type === "placed" && isTakenBack(report.order)) this.#takenBack.add(report.order);
    if (report.type === "event" && report.kind === "orphan") this.#orphans++;
  }

  #mourn({ code, signal }: Exit): void {
    if (signal === "SIGKILL") this.#killed++;
    else if (code !== 0) this.#failed++;
  }
}
