import type { Random } from "@holdfast/wait";
import { isThenable } from "../is-thenable.ts";
import { type Logger, logSafely } from "../logger.ts";

/** Calls user code whose errors must not end a controller. */
export class Hooks {
  readonly #logger: Logger;
  readonly #name: string;

  constructor(logger: Logger, name: string) {
    this.#logger = logger;
    this.#name = name;
  }

  /** Calls a hook. Its error is logged, thrown or rejected. */
  call(hook: string, run: () => unknown): void {
    try {
      const result = run();
      if (isThenable(result))
        void Promise.resolve(result).catch((error: unknown) => this.#complain(hook, error));
    } catch (error) {
      this.#complain(hook, error);
    }
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

  /** Logs a line. An error of the logger itself is dropped. */
  log(level: keyof Logger, details: object, message: string): void {
    logSafely(this.#logger, level, { controller: this.#name, ...details }, message);
  }

  #complain(hook: string, err: unknown): void {
    this.log("error", { hook, err }, "controller hook failed");
  }
}
