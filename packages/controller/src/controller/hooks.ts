import type { Random } from "@holdfast/wait";
import type { Logger } from "../logger.ts";

/** Calls code of others that must not be able to end a controller. */
export class Hooks {
  readonly #logger: Logger;
  readonly #name: string;

  constructor(logger: Logger, name: string) {
    this.#logger = logger;
    this.#name = name;
  }

  /** Calls a hook; what it throws, or its promise rejects with, is logged. */
  call(hook: string, run: () => unknown): void {
    try {
      const result = run();
      if (isThenable(result))
        void Promise.resolve(result).catch((error: unknown) => this.#complain(hook, error));
    } catch (error) {
      this.#complain(hook, error);
    }
  }

  /** A number that others draw. Without one it is 0, which means no jitter, and that is logged. */
  draw(random: Random): number {
    let drawn = 0;
    this.call("random", () => {
      const value = random();
      if (!(value >= 0 && value <= 1)) throw new RangeError(`random drew ${value}`);
      drawn = value;
    });
    return drawn;
  }

  /** A logger that throws cannot be told so. */
  log(level: keyof Logger, details: object, message: string): void {
    try {
      this.#logger[level]({ controller: this.#name, ...details }, message);
    } catch {
      // There is nowhere left to say it.
    }
  }

  #complain(hook: string, err: unknown): void {
    this.log("error", { hook, err }, "a hook of the controller failed");
  }
}

/** Whether something is to be waited for. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === "function";
}
