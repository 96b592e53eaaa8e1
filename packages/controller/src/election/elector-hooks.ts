import type { PassiveClock } from "@holdfast/clock";
import { messageOf, RepeatedLines } from "@holdfast/kit";
import { type Logger, logSafely } from "../logger.ts";
import type { ResolvedRun } from "../run-options.ts";
import type { LeaderElectorOptions } from "./leader-elector-options.ts";

/** What {@link ElectorHooks} needs. */
export interface ElectorHookOptions
  extends Pick<LeaderElectorOptions, "identity" | "onNewLeader" | "onError"> {
  readonly logger: Logger;
  readonly clock: PassiveClock;
  readonly lock: { readonly description: string };
}

/**
 * Hooks of an elector, which are not awaited. An error of a hook goes to `onError`; without one, or if `onError`
 * fails, it stops the run, which then rejects with it. Errors of the logger are dropped.
 */
export class ElectorHooks {
  readonly #options: ElectorHookOptions;
  #stop!: (reason: unknown) => void;
  #run!: Pick<ResolvedRun, "signal" | "stopWithin">;
  #failure: { readonly error: unknown } | undefined;
  #lockError: unknown;
  readonly #lines: RepeatedLines;

  constructor(options: ElectorHookOptions) {
    this.#options = options;
    this.#lines = new RepeatedLines(options.clock);
  }

  /** Milliseconds that the stop of the run has left; `Infinity` before it. */
  stopWithin(): number {
    const { signal, stopWithin } = this.#run;
    if (!signal.aborted) return Number.POSITIVE_INFINITY;
    return stopWithin((error) => void this.failed(error));
  }

  /** Error of the latest request to the lock; undefined if it succeeded. */
  get lockError(): unknown {
    return this.#lockError;
  }

  /** A run begins; `stop` ends it. */
  begin(run: Pick<ResolvedRun, "signal" | "stopWithin">, stop: (reason: unknown) => void): void {
    this.#run = run;
    this.#stop = stop;
    this.#failure = undefined;
  }

  /** The run has ended. */
  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  newLeader(leader: string | undefined): void {
    void this.#call(() => this.#options.onNewLeader?.(leader));
  }

  lockAnswered(): void {
    this.#lockError = undefined;
  }

  /**
   * The request is retried. Without `onError` it is a warning, another one within a minute at debug level.
   *
   * @param locks - the locks that failed, if the elector has several
   * @param subject - has one warning a minute
   */
  lockFailed(err: unknown, locks?: readonly string[], subject = `lock ${locks?.[0]}`): void {
    this.#lockError = err;
    const { onError } = this.#options;
    if (onError !== undefined) void this.#call(() => onError(err));
    else {
      const text = `request to the lock failed: ${messageOf(err)}`;
      this.warn(text, subject, { err, ...(locks && { locks }) });
    }
  }

  /** Logs a warning, once a minute for each subject. */
  warn(message: string, subject: string, details: object): void {
    const more = this.#lines.detailsOf(subject, message);
    this.log(more === undefined ? "debug" : "warn", message, { ...details, ...more });
  }

  log(level: "debug" | "info" | "warn", message: string, details: object = {}): void {
    const { logger, identity, lock } = this.#options;
    const facts = { identity, lock: lock.description, ...details };
    logSafely(logger, level, facts, message);
  }

  /** Passes an error of user code to `onError`. */
  async failed(error: unknown): Promise<void> {
    try {
      if (this.#options.onError === undefined) throw error;
      await this.#options.onError(error);
    } catch (unhandled) {
      this.#failure ??= { error: unhandled };
      this.#stop(unhandled);
    }
  }

  async #call(hook: () => unknown): Promise<void> {
    try {
      await hook();
    } catch (error) {
      await this.failed(error);
    }
  }
}
