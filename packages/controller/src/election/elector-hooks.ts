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
   * The request is retried. Without `onError` it is a warning, an equal one within a minute at debug level.
   *
   * @param details - facts for the line
   */
  lockFailed(err: unknown, details: object = {}): void {
    this.#lockError = err;
    const { onError } = this.#options;
    if (onError !== undefined) void this.#call(() => onError(err));
    else {
      const reason = messageOf(err);
      const text = `request to the lock failed: ${reason}`;
      this.#logOnce(text, { reason, subject: "" }, { err, ...details });
    }
  }

  /** Logs a warning, the same one about a subject once a minute. */
  warn(message: string, subject: string, details: object): void {
    this.#logOnce(message, { reason: message, subject }, details);
  }

  #logOnce(
    message: string,
    { reason, subject }: { readonly reason: string; readonly subject: string },
    details: object,
  ): void {
    const more = this.#lines.detailsOf(reason, subject);
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
