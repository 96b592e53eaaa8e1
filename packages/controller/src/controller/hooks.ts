import type { PassiveClock } from "@holdfast/clock";
import { callSafely, messageOf, RepeatedLines } from "@holdfast/kit";
import type { Random } from "@holdfast/wait";
import { type Logger, logSafely } from "../logger.ts";

/** Facts for a line. */
interface Facts {
  readonly err?: unknown;
  readonly [name: string]: unknown;
}

/** Calls user code whose errors must not end a controller. */
export class Hooks {
  readonly #logger: Logger;
  readonly #name: string;
  readonly #lines: RepeatedLines;

  constructor(logger: Logger, name: string, clock: PassiveClock) {
    this.#logger = logger;
    this.#name = name;
    this.#lines = new RepeatedLines(clock);
  }

  /** Calls a hook. Its error, thrown or rejected, is logged; the same one of the same hook once a minute. */
  call(hook: string, run: () => unknown): void {
    callSafely(run, (error) => this.failed(hook, error));
  }

  /** Logs an error of a hook. */
  failed(hook: string, err: unknown): void {
    const more = this.#lines.detailsOf(messageOf(err), hook);
    if (more !== undefined) this.log("error", { hook, err, ...more }, "controller hook failed");
  }

  /** Metrics whose errors are logged and end neither a worker nor a stop. */
  guarded<Metrics extends object>(
    hook: string,
    metrics: Metrics | undefined,
    methods: readonly (keyof Metrics)[],
  ): Metrics | undefined {
    if (metrics === undefined) return undefined;
    const guards = methods.map((method) => {
      const guard = (...facts: unknown[]): void =>
        this.call(hook, () => Reflect.apply(metrics[method] as () => unknown, metrics, facts));
      return [method, guard] as const;
    });
    return Object.fromEntries(guards) as unknown as Metrics;
  }

  /** A random number from `options.random`. An invalid number is logged and replaced by 0, which means no jitter. */
  draw(random: Random): number {
    let drawn = 0;
    this.call("random", () => {
      const value = random();
      if (!(value >= 0 && value <= 1))
        throw new RangeError(`options.random must return a number from 0 to 1, got ${value}`);
      drawn = value;
    });
    return drawn;
  }

  /**
   * Logs an error, the same one of the same subject once a minute; others of it are at debug level.
   *
   * @param subject - the source or the key that failed
   */
  logRepeated(subject: string, details: Facts, message: string): void {
    const more = this.#lines.detailsOf(`${message}${messageOf(details.err)}`, subject);
    this.log(more === undefined ? "debug" : "error", { ...details, ...more }, message);
  }

  /** Logs a line. An error of the logger itself is dropped. */
  log(level: keyof Logger, details: object, message: string): void {
    logSafely(this.#logger, level, { controller: this.#name, ...details }, message);
  }
}
