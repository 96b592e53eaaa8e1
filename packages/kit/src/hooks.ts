import { callSafely } from "./call-safely.ts";
import { messageOf } from "./message-of.ts";
import { type MonotonicClock, RepeatedLines } from "./repeated-lines.ts";

/** The methods of a logger. */
type LineLogger = Readonly<
  Record<"debug" | "info" | "warn" | "error", (details: object, message: string) => void>
>;

/** Facts for a line. */
interface Facts {
  readonly err?: unknown;
  readonly [name: string]: unknown;
}

/** Calls the logger and other code of the user whose errors must not end what calls it. */
export class Hooks {
  readonly #logger: LineLogger;
  readonly #lines: RepeatedLines;
  readonly #failure: string;
  readonly #facts: object;

  /**
   * @param failure - message of a line about a hook that has failed
   * @param facts - details of every line
   */
  constructor(logger: LineLogger, clock: MonotonicClock, failure: string, facts: object = {}) {
    this.#logger = logger;
    this.#lines = new RepeatedLines(clock);
    this.#failure = failure;
    this.#facts = facts;
  }

  /** Calls a hook. Its error, thrown or rejected, is logged, once a minute for each hook. */
  call(hook: string, run: () => unknown): void {
    callSafely(run, (error) => this.failed(hook, error));
  }

  /** Logs an error of a hook. */
  failed(hook: string, err: unknown): void {
    const more = this.#lines.detailsOf(hook, messageOf(err));
    if (more !== undefined) this.log("error", { hook, err, ...more }, this.#failure);
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
  draw(random: () => number): number {
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
   * Logs an error, once a minute for each subject and message; others are at debug level.
   *
   * @param subject - the source or the key that failed
   */
  logRepeated(subject: string, details: Facts, message: string): void {
    const more = this.#lines.detailsOf(`${message} ${subject}`, messageOf(details.err));
    this.log(more === undefined ? "debug" : "error", { ...details, ...more }, message);
  }

  /** Logs a line. An error of the logger itself is dropped. */
  log(level: keyof LineLogger, details: object, message: string): void {
    callSafely(() => this.#logger[level]({ ...this.#facts, ...details }, message));
  }
}
