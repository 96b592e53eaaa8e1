import { type Clock, realClock } from "@holdfast/clock";
import {
  above,
  count,
  func,
  type Kinds,
  kind,
  MAX_RETRY_AFTER,
  methods,
  notNegative,
  read,
  requireArray,
  required,
  requireHooks,
  requireMethods,
  text,
  whole,
} from "@holdfast/kit";
import type { Random } from "@holdfast/wait";
import { CONTROLLER_METRICS, type ControllerMetrics } from "../controller-metrics.ts";
import { anyLogger, rateLimiter } from "../kinds.ts";
import { ExponentialLimiter } from "../limit/exponential-limiter.ts";
import { LimiterClock } from "../limit/limiter-clock.ts";
import type { RateLimiter } from "../limit/rate-limiter.ts";
import { defaultLogger, type Logger } from "../logger.ts";
import { itself, QUEUE_METRICS, type QueueMetrics } from "../queue/work-queue-options.ts";
import type { Reconciler } from "../reconcile/reconcile.ts";
import type { Source } from "../source/source.ts";
import { ABORT_GRACE, GRACE } from "../stop-budget.ts";

export const CONTROLLER_OPTIONS: Kinds<ControllerOptions<never>> = {
  name: required(text),
  reconcile: required(func),
  sources: kind("sources", requireSources),
  keyOf: func,
  workers: count,
  limiter: rateLimiter,
  timeout: above(0),
  abortGrace: notNegative,
  grace: notNegative,
  retries: whole(0),
  maxRetryAfter: notNegative,
  onGiveUp: func,
  onError: func,
  aging: above(0),
  fairBy: func,
  clock: methods("now", "monotonic", "afterFunc"),
  random: func,
  logger: anyLogger,
  metrics: methods(...CONTROLLER_METRICS),
  queueMetrics: methods(...QUEUE_METRICS),
};

/** Origin of an error: the reconcile of a key, or a source. */
export type ErrorOrigin =
  | {
      /** A reconcile failed. */
      readonly kind: "reconcile";
      /** Its key. */
      readonly key: string;
      /** See `ReconcileRequest.attempt`. */
      readonly attempt: number;
    }
  | {
      /** A source failed, or enqueued an invalid item. */
      readonly kind: "source";
      /** Its name. */
      readonly name: string;
    };

/**
 * A key that failed and is not retried: after `retries`, after a `TerminalError`, or because the limiter or a
 * `RetryAfterError` asked for `Infinity`. `isTerminalError(error)` tells the second.
 */
export interface GiveUp<Item = string> {
  /** The key. */
  readonly key: string;
  /** Its latest item. */
  readonly item: Item;
  /** Number of attempts, the first included. */
  readonly attempts: number;
  /** The error of the last attempt. */
  readonly error: unknown;
}

/** Options for a {@link Controller}. */
export interface ControllerOptions<Item = string> {
  /** Name in the status, in log lines and in reports of fake clocks. Not empty. */
  readonly name: string;

  /** The function that is called for each key; see {@link Reconciler}. */
  readonly reconcile: Reconciler<Item>;

  /**
   * Sources that report changes. `run` starts them, and restarts a failed one after 1 s to 60 s.
   *
   * @defaultValue none: your code calls `add`
   */
  readonly sources?: readonly Source<Item>[] | undefined;

  /**
   * Key of an item. Required unless items are strings.
   *
   * @defaultValue the item itself
   */
  readonly keyOf?: ((item: Item) => string) | undefined;

  /**
   * Number of keys that are processed at once. Whole, at least 1.
   *
   * @defaultValue `1`
   */
  readonly workers?: number | undefined;

  /**
   * Delays of retries, and the number of failures of each key: `attempt` and `retries` rely on its
   * `requeues`. If it throws, the error is logged and the key is retried after 1 s.
   *
   * @defaultValue an {@link ExponentialLimiter} with its defaults, on the controller's clock
   */
  readonly limiter?: RateLimiter | undefined;

  /**
   * Maximum duration of a reconcile before its signal aborts, in milliseconds. Above 0.
   *
   * @defaultValue `Infinity`
   */
  readonly timeout?: number | undefined;

  /**
   * Maximum time that a reconcile may continue after its signal has aborted, in milliseconds. At least
   * 0. After that the reconcile is logged and its worker takes another key; its own key does not run
   * again before it settles. Sources have the same time to end when the controller stops.
   *
   * @defaultValue `5_000`
   */
  readonly abortGrace?: number | undefined;

  /**
   * Maximum time to finish queued and in-flight keys after the signal of `run` has aborted, in
   * milliseconds. At least 0. After that keys in flight abort, and no key begins. A run with `lost`, which
   * is one under an election, finishes keys in flight only.
   *
   * In a `Manager`, raise its `stopTimeout` too, and that of the group if it has one. A controller that has less time than
   * `grace` plus `abortGrace` shortens both.
   *
   * @defaultValue `15_000`
   */
  readonly grace?: number | undefined;

  /**
   * Maximum number of retries of a key before it is given up. Whole, at least 0, or `Infinity`. The
   * limiter counts the failures: one during the backoff of an earlier one does not count.
   *
   * @defaultValue `Infinity`
   */
  readonly retries?: number | undefined;

  /**
   * Maximum delay that a `RetryAfterError` may demand, in milliseconds. At least 0; `Infinity` is no limit.
   * The delays of `limiter` stay as they are, and apply if they are longer.
   *
   * @defaultValue `900_000`, 15 minutes
   */
  readonly maxRetryAfter?: number | undefined;

  /**
   * Called when a key has failed and is not retried, for whatever reason; see {@link GiveUp}. The key rests until the
   * next event. Not called for a key that the stop of the controller interrupts.
   */
  readonly onGiveUp?: ((giveUp: GiveUp<Item>) => unknown) | undefined;

  /** Called with every error of a reconcile or a source. */
  readonly onError?: ((error: unknown, origin: ErrorOrigin) => unknown) | undefined;

  /**
   * Waiting time that equals one step of priority; see {@link WorkQueueOptions.aging}.
   *
   * @defaultValue `1_000`
   */
  readonly aging?: number | undefined;

  /**
   * The group of a key, such as its tenant; see {@link WorkQueueOptions.fairBy}. Groups that have queued keys take turns:
   * one with thousands of keys does not keep the others waiting.
   *
   * @defaultValue none: all keys are one group
   */
  readonly fairBy?: ((key: string) => string) | undefined;

  /**
   * Clock for all delays and durations.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Source of jitter between the starts of a failing source, and of `limiter` and of sources that have none of their own.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;

  /**
   * Receiver of log lines. Pass {@link silentLogger} to turn logging off.
   *
   * @defaultValue prints warnings and errors to the console
   */
  readonly logger?: Logger | undefined;

  /**
   * Receiver of the controller's metrics.
   *
   * @defaultValue none
   */
  readonly metrics?: ControllerMetrics | undefined;

  /**
   * Receiver of the queue's metrics. It must not throw.
   *
   * @defaultValue none
   */
  readonly queueMetrics?: QueueMetrics | undefined;
}

/** Options for a {@link Controller} whose items are not strings. */
export interface KeyedControllerOptions<Item> extends ControllerOptions<Item> {
  /** Key of an item. */
  readonly keyOf: (item: Item) => string;
}

/** Argument of a new {@link Controller}: `keyOf` is optional only if items are strings. */
export type ControllerArguments<Item> = [Item] extends [string]
  ? ControllerOptions<Item>
  : KeyedControllerOptions<Item>;

type OptionsWithoutDefault = "fairBy" | "random" | "metrics" | "queueMetrics";

/** The options with their defaults. */
export type ResolvedControllerOptions<Item> = {
  readonly [Name in Exclude<keyof ControllerOptions<Item>, OptionsWithoutDefault>]-?: NonNullable<
    ControllerOptions<Item>[Name]
  >;
} & Pick<ControllerOptions<Item>, OptionsWithoutDefault>;

/** @throws RangeError or TypeError if an option is out of its range */
export function resolveController<Item>(
  options: ControllerOptions<Item>,
): ResolvedControllerOptions<Item> {
  const given = read("options", options, "Controller", CONTROLLER_OPTIONS);
  const { name, reconcile, sources = [], keyOf = itself, clock = realClock, random } = given;
  const {
    limiter = new ExponentialLimiter({ clock }),
    onGiveUp = ignore,
    onError = ignore,
  } = given;
  const { fairBy, logger = defaultLogger, metrics, queueMetrics } = given;
  LimiterClock.use(limiter, clock, random);
  const work = { name, reconcile, sources, keyOf, fairBy, limiter, clock, random };
  return { ...work, ...limitsOf(given), onGiveUp, onError, logger, metrics, queueMetrics };
}

function limitsOf<Item>(given: ControllerOptions<Item>) {
  const { workers = 1, retries = Number.POSITIVE_INFINITY, aging = 1_000 } = given;
  const { timeout = Number.POSITIVE_INFINITY, abortGrace = ABORT_GRACE, grace = GRACE } = given;
  const { maxRetryAfter = MAX_RETRY_AFTER } = given;
  return { workers, retries, maxRetryAfter, aging, timeout, abortGrace, grace };
}

function requireSources(path: string, sources: readonly Source<never>[]): void {
  requireArray(path, sources);
  for (const [index, source] of sources.entries()) requireSource(`${path}[${index}]`, source);
}

/** @throws TypeError that names the argument */
export function requireSource<Item>(name: string, source: Source<Item>): void {
  requireMethods(name, source, ["start"]);
  requireHooks(name, { ready: source.ready });
}

const ignore = (): void => {};
