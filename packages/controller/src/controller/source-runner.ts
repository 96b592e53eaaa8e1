import { aborted, type Clock, LinkedController, onAbort } from "@holdfast/clock";
import { deferred, isThenable, messageOf } from "@holdfast/kit";
import { backoffUntil, ExponentialBackoffManager, type Random } from "@holdfast/wait";
import type { EnqueueOptions, Source } from "../source/source.ts";
import type { ErrorStatus, SourceState, SourceStatus } from "./controller-status.ts";
import { type Passage, Replays, type SourceCall } from "./replays.ts";
import type { Workers } from "./workers.ts";

/** Options for a {@link SourceRunner}. */
export interface SourceRunnerOptions<Item> {
  readonly clock: Clock;
  readonly random: Random | undefined;
  /** Ends the source before the controller. */
  readonly signal: AbortSignal | undefined;
  readonly workers: Pick<Workers<Item>, "add">;
  readonly onError: (error: unknown, source: string, message: string) => void;
  /** Resolves when all sources of the controller are ready. Undefined if they are. */
  readonly othersReady: (signal: AbortSignal) => Promise<void> | undefined;
  /** Called when {@link SourceRunner.isReady} has become true. */
  readonly onReady: () => void;
  /** Called when {@link SourceRunner.hasTold} has become true in a start. */
  readonly onTold: () => void;
}

/** Delays between the starts of a failing source, in milliseconds. */
const RESTART = { duration: 1_000, factor: 2, cap: 60_000, jitter: 0.2, resetAfter: 120_000 };

const RESTARTING = "source failed; restarting after a delay";

const LATE_EVENT =
  "event ignored because its start() has already settled: return a promise that lasts as long as the source, or return nothing";

/** Keeps one source running: restarts it when it fails. */
export class SourceRunner<Item> {
  /** Whether the data of the source is complete. */
  isReady: boolean;
  readonly #source: Source<Item>;
  readonly #options: SourceRunnerOptions<Item>;
  #state: SourceState = "idle";
  #lateEvents: "none" | "reported" = "none";
  #starts = 0;
  #isClosed = false;
  #hasTold = false;
  /** The signal of the run. */
  #stop: AbortSignal | undefined;
  /** Whether the source starts again when a slot comes. */
  #isSharded = false;
  /** Defined while the source is started. */
  #replays: Replays<Item> | undefined;
  #lastError: ErrorStatus | undefined = undefined;

  constructor(source: Source<Item>, options: SourceRunnerOptions<Item>) {
    this.#source = source;
    this.#options = options;
    this.isReady = source.ready === undefined;
  }

  /** The controller has stopped: later errors of the source are dropped. */
  close(): void {
    this.#isClosed = true;
  }

  /** Whether its own signal has aborted. */
  get isRemoved(): boolean {
    return this.#options.signal?.aborted === true;
  }

  /** Whether a start of the source has told all items that exist. */
  get hasTold(): boolean {
    return this.#hasTold || this.isOver;
  }

  get isOver(): boolean {
    return this.#state === "ended";
  }

  status(): SourceStatus {
    return {
      name: this.#source.name,
      state: this.#state,
      restarts: Math.max(0, this.#starts - 1),
      lastError: this.#lastError,
    };
  }

  /** Has the source report the items for which `isWanted` returns true, by another start; see {@link Replays}. */
  replay(isWanted: (item: Item) => boolean): void {
    this.#replays?.add(isWanted);
  }

  /** Resolves when the source has ended, by itself or after the abort. */
  async run(stop: AbortSignal, isSharded: boolean): Promise<void> {
    this.#isSharded = isSharded;
    this.#stop = stop;
    const { clock, random, signal: removal } = this.#options;
    using end = new LinkedController(stop, ...(removal === undefined ? [] : [removal]));
    onAbort(end.signal, () => {
      this.#state = this.#state === "running" ? "stopping" : "ended";
    });
    const manager = new ExponentialBackoffManager({ ...RESTART, clock, random });
    const onError = (error: unknown): void => {
      const restarts = !end.aborted;
      if (restarts) this.#state = "backing-off";
      this.#fail(error, restarts ? RESTARTING : "source failed while stopping");
    };
    const attempt = async (): Promise<void> => {
      if (!this.isReady) await this.#becomeReady(end.signal);
      const others = this.#options.othersReady(end.signal);
      if (others !== undefined) await others;
      await this.#start(end.signal);
      this.#state = "ended";
      end.abort();
    };
    await backoffUntil(attempt, manager, true, end.signal, { onError });
    this.#state = "ended";
  }

  async #becomeReady(signal: AbortSignal): Promise<void> {
    this.#state = "waiting";
    await this.#source.ready?.(signal);
    signal.throwIfAborted();
    this.#state = "idle";
    this.isReady = true;
    this.#options.onReady();
  }

  /** Starts the source, and anew at each replay. Resolves when it has ended, by itself or after the abort. */
  async #start(signal: AbortSignal): Promise<void> {
    this.#starts++;
    this.#replays = new Replays<Item>(signal, {
      clock: this.#options.clock,
      begin: (passage) => this.#begin(signal, passage),
      isSharded: this.#isSharded,
      onRest: () => {
        this.#state = "ended";
      },
      onRetry: (error) => this.#fail(error, RESTARTING),
    });
    try {
      await this.#replays.run();
    } finally {
      this.#replays = undefined;
    }
  }

  /** Starts the source once. */
  #begin(signal: AbortSignal, passage: Passage<Item>): SourceCall {
    const attempt = new LinkedController(signal);
    const replaced = deferred<void>();
    let isReplaced = false;
    let isSynchronous = false;
    this.#state = "running";
    const { clock, random, workers } = this.#options;
    const context = {
      clock,
      random,
      enqueue: (item: Item, options?: EnqueueOptions) => {
        if (attempt.aborted) {
          if (!isReplaced) this.#reportLateEvent();
          return;
        }
        try {
          if (!passage.isComplete && !passage.isNew(item)) return;
          // Most items come without options, which then are not checked.
          if (options === undefined) workers.add(item, this.#source.name);
          else workers.add(item, options.reason ?? this.#source.name, { ...options });
        } catch (error) {
          this.#fail(error, "event of a source rejected");
        }
      },
      failed: (error: unknown) => {
        passage.failed();
        this.#fail(error, "source reported an error");
      },
      listed: () => {
        if (attempt.aborted) return;
        passage.listed();
        this.#tell();
      },
    };
    const run = async (): Promise<void> => {
      try {
        const started = this.#source.start(context, attempt.signal);
        isSynchronous = !isThenable(started);
        if (isSynchronous) this.#tell();
        if (isThenable(started)) await started;
        else await aborted(attempt.signal);
      } finally {
        attempt[Symbol.dispose]();
        attempt.abort();
      }
    };
    const ended = Promise.race([run(), replaced.promise]);
    return {
      ended,
      isSynchronous,
      replace: () => {
        isReplaced = true;
        replaced.resolve();
        attempt.abort();
      },
    };
  }

  #tell(): void {
    this.#hasTold = true;
    this.#options.onTold();
  }

  /** Reported once: a source that returns too early would otherwise lose every event silently. */
  #reportLateEvent(): void {
    const isStopped = this.#stop?.aborted === true || this.isRemoved;
    if (this.#lateEvents === "reported" || isStopped) return;
    this.#lateEvents = "reported";
    this.#fail(new Error(LATE_EVENT), "source reported an error");
  }

  #fail(error: unknown, message: string): void {
    if (this.#isClosed) return;
    this.#lastError = { message: messageOf(error), at: this.#options.clock.now() };
    this.#options.onError(error, this.#source.name, message);
  }
}
