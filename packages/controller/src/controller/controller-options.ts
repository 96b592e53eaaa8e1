import { type Clock, realClock } from "@holdfast/clock";
import {
  requireAbove,
  requireArray,
  requireFinite,
  requireFunction,
  requireMethods,
  requireNotNegative,
  requireOptions,
  requireString,
  requireWhole,
} from "@holdfast/clock/internal";
import type { Random } from "@holdfast/wait";
import { type ControllerMetrics, noControllerMetrics } from "../controller-metrics.ts";
import { ExponentialLimiter } from "../limit/exponential-limiter.ts";
import type { RateLimiter } from "../limit/rate-limiter.ts";
import { type Logger, silentLogger } from "../logger.ts";
import { noQueueMetrics, type QueueMetrics } from "../queue/queue-metrics.ts";
import type { Reconciler } from "../reconcile/reconcile.ts";
import type { Source } from "../source/source.ts";

/** Where an error came from: a key's reconcile, or a source. */
export type ErrorOrigin =
  | {
      /** A reconcile has failed. */
      readonly kind: "reconcile";
      /** Its key. */
      readonly key: string;
      /** See `Request.attempt`. */
      readonly attempt: number;
    }
  | {
      /** A source has failed, or what it enqueued was no item. */
      readonly kind: "source";
      /** Its name. */
      readonly name: string;
    };

/** A key that failed once more than it may. */
export interface GiveUp<Item = string> {
  /** The key. */
  readonly key: string;
  /** Its latest item. */
  readonly item: Item;
  /** How often it has failed. */
  readonly attempts: number;
  /** What the last attempt threw. */
  readonly error: unknown;
}

/** How a {@link Controller} behaves. */
export interface ControllerOptions<Item = string> {
  /** A name for status, logs and fake clocks. */
  readonly name: string;

  /** What is called for a key; see {@link Reconciler}. */
  readonly reconcile: Reconciler<Item>;

  /**
   * What tells it that something has happened. They are started by `run`, and again, after 1 s to
   * 60 s, when they fail.
   *
   * @defaultValue none: somebody calls `add`
   */
  readonly sources?: readonly Source<Item>[] | undefined;

  /**
   * What an item is known by. Required unless items are strings.
   *
   * @defaultValue the item itself
   */
  readonly keyOf?: ((item: Item) => string) | undefined;

  /**
   * How many keys are worked on at once. Whole, at least 1.
   *
   * @defaultValue `1`
   */
  readonly workers?: number | undefined;

  /**
   * Says how long a failed key waits.
   *
   * @defaultValue an {@link ExponentialLimiter} with its defaults, on the controller's clock
   */
  readonly limiter?: RateLimiter | undefined;

  /**
   * How long a reconcile may take before its signal aborts, in milliseconds. Above 0.
   *
   * @defaultValue `Infinity`
   */
  readonly timeout?: number | undefined;

  /**
   * How long a reconcile may go on after its signal has aborted, in milliseconds. At least 0. Then it
   * is logged and its worker takes another key; its own key is not run again before it has settled.
   *
   * @defaultValue `5_000`
   */
  readonly abortGrace?: number | undefined;

  /**
   * How long to go on, after the abort, with what is queued and in flight, in milliseconds. At least
   * 0. Then the signals of what is in flight abort, and nothing more is begun.
   *
   * In a `Manager`, `grace` and `abortGrace` together have to be below the `stopTimeout` of the group:
   * otherwise what would have obeyed its signal is reported as not stopped.
   *
   * @defaultValue `20_000`
   */
  readonly grace?: number | undefined;

  /**
   * How often a key is retried before it is given up. Whole, at least 0.
   *
   * @defaultValue `Infinity`
   */
  readonly maxRetries?: number | undefined;

  /** Is told of a key that is given up: it rests until something happens. */
  readonly onGiveUp?: ((giveUp: GiveUp<Item>) => unknown) | undefined;

  /** Is told of every error of a reconcile or a source. */
  readonly onError?: ((error: unknown, origin: ErrorOrigin) => unknown) | undefined;

  /**
   * How much waiting is worth one step of priority; see {@link WorkQueueOptions.aging}.
   *
   * @defaultValue `1_000`
   */
  readonly aging?: number | undefined;

  /**
   * Measures everything.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Draws the jitter between the starts of a source that fails, and nothing else.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;

  /**
   * Where it says what it does.
   *
   * @defaultValue {@link silentLogger}
   */
  readonly logger?: Logger | undefined;

  /**
   * Is told what happens.
   *
   * @defaultValue {@link noControllerMetrics}
   */
  readonly metrics?: ControllerMetrics | undefined;

  /**
   * Is told what happens in the queue. It must not throw.
   *
   * @defaultValue {@link noQueueMetrics}
   */
  readonly queueMetrics?: QueueMetrics | undefined;
}

/** The options of a {@link Controller} whose items are no strings. */
export interface KeyedControllerOptions<Item> extends ControllerOptions<Item> {
  /** What an item is known by. */
  readonly keyOf: (item: Item) => string;
}

/** What a new {@link Controller} takes: only one of strings can do without a `keyOf`. */
export type ControllerArguments<Item> = [Item] extends [string]
  ? ControllerOptions<Item>
  : KeyedControllerOptions<Item>;

/** The options with their defaults. */
export type ResolvedControllerOptions<Item> = {
  readonly [Name in Exclude<keyof ControllerOptions<Item>, "random" | "metrics">]-?: NonNullable<
    ControllerOptions<Item>[Name]
  >;
} & Pick<ControllerOptions<Item>, "random"> & {
    /** Undefined if nobody listens. */
    readonly metrics: ControllerMetrics | undefined;
  };

/** @throws RangeError or TypeError if an option is out of its range */
export function resolveController<Item>(
  options: ControllerOptions<Item>,
): ResolvedControllerOptions<Item> {
  requireOptions("options", options);
  const { name, reconcile, keyOf = itself, clock = realClock } = options;
  requireString("options.name", name);
  requireFunction("options.reconcile", reconcile);
  requireFunction("options.keyOf", keyOf);
  requireMethods("options.clock", clock, ["now", "monotonic", "afterFunc"]);
  const { limiter = new ExponentialLimiter({ clock }), random } = options;
  if (random !== undefined) requireFunction("options.random", random);
  requireMethods("options.limiter", limiter, ["when", "forget", "requeues"]);
  return {
    ...{ name, reconcile, keyOf, clock, limiter, random },
    sources: requireSources(options),
    ...resolveLimits(options),
    ...resolveHooks(options),
  };
}

function resolveLimits<Item>(options: ControllerOptions<Item>) {
  const { workers = 1, maxRetries = Number.POSITIVE_INFINITY, aging = 1_000 } = options;
  const { timeout = Number.POSITIVE_INFINITY, abortGrace = 5_000, grace = 20_000 } = options;
  requireWhole("options.workers", requireFinite("options.workers", workers), 1);
  requireWhole("options.maxRetries", maxRetries, 0);
  requireAbove("options.timeout", timeout, 0);
  requireNotNegative("options.abortGrace", abortGrace);
  requireNotNegative("options.grace", grace);
  return { workers, maxRetries, aging, timeout, abortGrace, grace };
}

function resolveHooks<Item>(options: ControllerOptions<Item>) {
  const { onGiveUp = ignore, onError = ignore, logger = silentLogger } = options;
  const { metrics = noControllerMetrics, queueMetrics = noQueueMetrics } = options;
  requireFunction("options.onGiveUp", onGiveUp);
  requireFunction("options.onError", onError);
  requireMethods("options.logger", logger, Object.keys(silentLogger));
  requireMethods("options.metrics", metrics, Object.keys(noControllerMetrics));
  requireMethods("options.queueMetrics", queueMetrics, Object.keys(noQueueMetrics));
  const listener = metrics === noControllerMetrics ? undefined : metrics;
  return { onGiveUp, onError, logger, metrics: listener, queueMetrics };
}

function requireSources<Item>({ sources = [] }: ControllerOptions<Item>): readonly Source<Item>[] {
  requireArray("options.sources", sources);
  for (const [index, source] of sources.entries())
    requireMethods(`options.sources[${index}]`, source, ["start"]);
  return sources;
}

const ignore = (): void => {};

/** Of an item that is a string. The controller refuses all other keys. */
function itself(item: unknown): string {
  return item as string;
}
