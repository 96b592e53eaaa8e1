import { type Hooks, messageOf, RepeatedLines } from "@holdfast/kit";
import type { CountedOutcome } from "../reconcile/outcome.ts";
import type { ErrorOrigin, ResolvedControllerOptions } from "./controller-options.ts";
import type { ReconcileErrorStatus } from "./controller-status.ts";
import type { Run } from "./run.ts";

/** Most lines about keys within a minute; all other failures share one line. */
const MAX_LINES = 10_000;

/** The outcome of a failure. */
type Failed = Extract<CountedOutcome, { readonly error: unknown }>;

/** What {@link FailureReports} need. */
type ReportOptions<Item> = Pick<ResolvedControllerOptions<Item>, "clock" | "onError" | "onGiveUp">;

/** Reports failed reconciles: to the log, to the hooks and to the status. */
export class FailureReports<Item> {
  /** The last failure. */
  last: ReconcileErrorStatus | undefined = undefined;
  readonly #options: ReportOptions<Item>;
  readonly #hooks: Hooks;
  readonly #lines: RepeatedLines;

  constructor(options: ReportOptions<Item>, hooks: Hooks) {
    this.#options = options;
    this.#hooks = hooks;
    this.#lines = new RepeatedLines(options.clock, MAX_LINES);
  }

  /** @param item - the latest that was added with the key */
  failed(run: Run<Item>, outcome: Failed, item: Item): void {
    const { clock, onError, onGiveUp } = this.#options;
    const { key, attempt, reason } = run;
    const { error } = outcome;
    const message = messageOf(error);
    this.last = { key, message, at: clock.now() };
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

  /** Logs a failure: once a minute for each key and level, others at debug level. */
  #log(
    level: "warn" | "error",
    message: string,
    details: { readonly key: string; readonly delay?: number },
    text: string,
  ): void {
    const more = this.#lines.detailsOf(`${level} ${details.key}`, message);
    const logged =
      more?.others === undefined ? text : `${text}; too many keys fail for a line each`;
    this.#hooks.log(more === undefined ? "debug" : level, { ...details, ...more }, logged);
  }
}
