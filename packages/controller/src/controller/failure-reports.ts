import { messageOf, type RepeatedDetails, RepeatedLines } from "@holdfast/kit";
import type { CountedOutcome } from "../reconcile/outcome.ts";
import type { ErrorOrigin, ResolvedControllerOptions } from "./controller-options.ts";
import type { ReconcileErrorStatus } from "./controller-status.ts";
import type { Hooks } from "./hooks.ts";
import type { Run } from "./run.ts";

/** Most keys that are remembered, and most lines about keys within a minute; all other failures share one line. */
const MAX_KEYS = 10_000;

/** In milliseconds. */
const MINUTE = 60_000;

/** What {@link FailureReports} need. */
type ReportOptions<Item> = Pick<ResolvedControllerOptions<Item>, "clock" | "onError" | "onGiveUp">;

/** Reports failed reconciles: to the log, to the hooks and to the status. */
export class FailureReports<Item> {
  readonly #options: ReportOptions<Item>;
  readonly #hooks: Hooks;
  /** The lines about each key since it last succeeded, the key first that failed longest ago. */
  readonly #lines = new Map<string, RepeatedLines>();
  readonly #others: RepeatedLines;
  #minuteEnd = Number.NEGATIVE_INFINITY;
  /** Number of lines in the minute that ends then. */
  #linesInMinute = 0;
  #last: ReconcileErrorStatus | undefined = undefined;

  constructor(options: ReportOptions<Item>, hooks: Hooks) {
    this.#options = options;
    this.#hooks = hooks;
    this.#others = new RepeatedLines(options.clock);
  }

  /** The last failure. */
  get last(): ReconcileErrorStatus | undefined {
    return this.#last;
  }

  settled(run: Run<Item>, outcome: CountedOutcome): void {
    if ("error" in outcome) this.#failed(run, outcome);
    // After a success the next failure is news.
    else if (outcome.kind !== "interrupt") this.#lines.delete(run.key);
  }

  #failed(run: Run<Item>, outcome: CountedOutcome & { readonly error: unknown }): void {
    const { clock, onError, onGiveUp } = this.#options;
    const { key, attempt, reason } = run;
    const { error } = outcome;
    const item = (run.newer ?? run.workItem.item).item;
    const message = messageOf(error);
    this.#last = { key, message, at: clock.now() };
    const details = { key, attempt, reason, err: error };
    const isRetried = outcome.kind === "retry" && outcome.delay < Number.POSITIVE_INFINITY;
    if (isRetried) {
      const { delay } = outcome;
      this.#log(
        "warn",
        message,
        { ...details, delay },
        "reconcile failed; key retried after delay",
      );
    } else this.#log("error", message, details, "reconcile failed; key not retried");
    const origin: ErrorOrigin = { kind: "reconcile", key, attempt };
    this.#hooks.call("onError", () => onError(error, origin));
    if (!isRetried)
      this.#hooks.call("onGiveUp", () => onGiveUp({ key, item, attempts: attempt, error }));
  }

  /**
   * Logs a failure. One that repeats, of one key, is at debug level for a minute, and so are those of all keys beyond
   * the first 10,000, but for one.
   */
  #log(
    level: "warn" | "error",
    message: string,
    details: { readonly key: string; readonly delay?: number },
    text: string,
  ): void {
    const more = this.#detailsOf(details.key, `${level} ${message}`);
    const logged =
      more?.others === undefined ? text : `${text}; too many keys fail for a line each`;
    this.#hooks.log(more === undefined ? "debug" : level, { ...details, ...more }, logged);
  }

  /**
   * Details for a line about a failure; undefined if its text was logged within the last minute. If too many keys fail,
   * a line with `others` stands for those without a line of their own.
   */
  #detailsOf(key: string, text: string): RepeatedDetails | undefined {
    const known = this.#lines.get(key);
    if (known === undefined && !this.#hasRoom()) return this.#detailsOfOthers();
    const lines = known ?? new RepeatedLines(this.#options.clock);
    this.#lines.delete(key);
    this.#lines.set(key, lines);
    const details = lines.detailsOf(text);
    return details === undefined || this.#spendLine() ? details : this.#detailsOfOthers();
  }

  /** Forgets the key that failed longest ago, if there are too many and it has not failed for a minute. */
  #hasRoom(): boolean {
    if (this.#lines.size < MAX_KEYS) return true;
    for (const [oldest, lines] of this.#lines) return lines.isQuiet && this.#lines.delete(oldest);
    return true;
  }

  /** Whether another line fits into this minute. */
  #spendLine(): boolean {
    const now = this.#options.clock.monotonic();
    if (now >= this.#minuteEnd) {
      this.#minuteEnd = now + MINUTE;
      this.#linesInMinute = 0;
    }
    return ++this.#linesInMinute <= MAX_KEYS;
  }

  #detailsOfOthers(): RepeatedDetails | undefined {
    const details = this.#others.detailsOf("");
    return details && { others: details.count ?? 1 };
  }
}
