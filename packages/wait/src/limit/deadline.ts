import {
  abortable,
  type Clock,
  type LateResult,
  LinkedController,
  onAbort,
  realClock,
  type Timer,
} from "@holdfast/clock";
import {
  abortSignal,
  anything,
  func,
  type Kinds,
  kind,
  loopClock,
  read,
  recaptureStack,
  requireNotNegative,
  requireSignal,
  requireString,
} from "@holdfast/kit";
import { TimeoutError } from "./timeout-error.ts";

export const DEADLINE_OPTIONS: Kinds<DeadlineOptions> = {
  clock: loopClock,
  signal: abortSignal,
  label: anything,
  cause: func,
  message: kind<string | (() => string)>("stringOrFunc", (path, value) => {
    if (typeof value !== "function") requireString(path, value);
  }),
};

/** Options for a {@link Deadline}. */
export interface DeadlineOptions {
  /**
   * Measures the timeout.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * The signal to follow.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;

  /**
   * Name of the timer. Fake clocks print it when a test is stuck.
   *
   * @defaultValue `"timeout"`
   */
  readonly label?: string | undefined;

  /**
   * Supplies the `cause` of the `TimeoutError`. Called once, when the timeout expires. `undefined` means no
   * cause.
   *
   * @defaultValue none
   */
  readonly cause?: (() => unknown) | undefined;

  /**
   * Message of the `TimeoutError`, or a function that makes it when the timeout expires.
   *
   * @defaultValue `timed out after ${timeout} ms`
   */
  readonly message?: string | (() => string) | undefined;
}

/** How long the deadlines leave their work, by the signals that they made. */
const TIMES = new WeakMap<AbortSignal, () => number>();

/**
 * Returns how long work under a signal may still take, for a step that must end before the whole does.
 *
 * @param signal - of an attempt, of `withTimeout` or of a {@link Deadline}
 * @returns milliseconds until its deadline aborts it, at least 0. `Infinity` for any other signal, and without one
 * @throws TypeError if `signal` is neither a signal nor undefined
 *
 * @example
 * ```ts
 * import { Deadline, timeLeft } from "@holdfast/wait/limit";
 *
 * using deadline = new Deadline(5_000);
 * console.log(timeLeft(deadline.signal) > 4_000); // => true
 * ```
 */
export function timeLeft(signal: AbortSignal | undefined): number {
  if (signal !== undefined) requireSignal("signal", signal);
  return (signal && TIMES.get(signal))?.() ?? Number.POSITIVE_INFINITY;
}

/**
 * A signal that aborts with another signal, or with a `TimeoutError` after `timeout`
 * milliseconds. Disposal releases timer and listener; a signal that has not aborted by then stays so.
 *
 * Use it to give one limit to several steps, or to work that outlives the call that starts it. For one step,
 * `withTimeout` is shorter.
 *
 * | Event | `signal` of the deadline |
 * | --- | --- |
 * | the timeout expires | aborts with a `TimeoutError` |
 * | the parent aborts | aborts with its reason |
 * | the parent has aborted already | has aborted with its reason, also with a timeout of 0 |
 * | a timeout of 0 | has aborted with a `TimeoutError` |
 * | a timeout of `Infinity` and a parent | is the parent itself |
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { Deadline } from "@holdfast/wait/limit";
 *
 * const clock = new FakeClock();
 * const steps: string[] = [];
 * using deadline = new Deadline(1_000, { clock });
 * await clock.run(async () => {
 *   for (const step of ["connect", "read", "close"]) {
 *     await clock.sleep(600, { signal: deadline.signal });
 *     steps.push(step);
 *   }
 * }).catch((error) => console.log(String(error))); // => TimeoutError: timed out after 1000 ms
 * console.log(steps); // => [ 'connect' ]
 * ```
 */
export class Deadline implements Disposable {
  readonly #timeout: number;
  readonly #options: DeadlineOptions;
  readonly #clock: Clock;
  /** The signal of the parent, or a controller, which makes its signal when that is first read. */
  #end!: AbortSignal | LinkedController;
  #startedAt = 0;
  #timer: Timer | undefined = undefined;
  #subscription: Disposable | undefined = undefined;
  #timeoutError: TimeoutError | undefined = undefined;

  /**
   * @param timeout - milliseconds, at least 0, or `Infinity`
   * @param options - see {@link DeadlineOptions}
   * @throws RangeError or TypeError if an argument is out of its range
   */
  constructor(timeout: number, options: DeadlineOptions = {}) {
    requireNotNegative("timeout", timeout);
    this.#timeout = timeout;
    this.#options = read("options", options, "Deadline", DEADLINE_OPTIONS);
    this.#clock = this.#options.clock ?? realClock;
    this.restart();
  }

  /**
   * What ends a wait now: `signal`, or what makes it.
   *
   * @internal
   */
  get end(): AbortSignal | LinkedController {
    return this.#end;
  }

  /** Aborts at the end of the time, or with the parent. */
  get signal(): AbortSignal {
    return this.signalOf(this.#end);
  }

  /**
   * The signal of an {@link Deadline.end}, also of one before a restart.
   *
   * @internal
   */
  signalOf(end: AbortSignal | LinkedController): AbortSignal {
    if (!(end instanceof LinkedController)) return end;
    const { signal } = end;
    if (end !== this.#end || TIMES.has(signal)) return signal;
    const expiry = this.#startedAt + this.#timeout;
    TIMES.set(signal, leftUntil(expiry, this.#clock, this.#options.signal));
    return signal;
  }

  /**
   * Begins again, for other work: on the same timer, with another signal.
   *
   * @internal
   */
  restart(): void {
    this[Symbol.dispose]();
    const { signal: parent } = this.#options;
    if (this.#timeout === Number.POSITIVE_INFINITY && parent !== undefined) {
      this.#end = parent;
      // The one listener. Without it, each wait would add and remove one of its own.
      if (!parent.aborted) this.#subscription = onAbort(parent, () => {});
      return;
    }
    this.#startedAt = this.#clock.monotonic();
    this.#end = new LinkedController();
    if (parent?.aborted) this.#abort(parent.reason);
    else if (this.#timeout === 0) this.#expire();
    else {
      this.#subscription = parent && onAbort(parent, (reason) => this.#abort(reason));
      if (this.#timeout < Number.POSITIVE_INFINITY) this.#arm();
    }
  }

  /**
   * Waits for `work` until this deadline at most, then disposes.
   *
   * @internal
   */
  async wait<Value, Argument>(
    work: (argument: Argument) => Value | PromiseLike<Value>,
    argument: Argument,
    onLate?: ((value: Value) => unknown) | LateResult<Value>,
  ): Promise<Value> {
    try {
      return await abortable(work, this.#end, onLate, argument);
    } catch (error) {
      throw this.withCaller(error);
    } finally {
      this[Symbol.dispose]();
    }
  }

  /**
   * Returns the error. The `TimeoutError` of this deadline, which a timer made, gets the stack of the code
   * that waits: call this in an async function, after its `await`.
   *
   * @param error - anything that was caught
   * @returns the same
   */
  withCaller(error: unknown): unknown {
    if (this.isExpiry(error)) recaptureStack(error as TimeoutError, this.withCaller);
    return error;
  }

  /**
   * Whether an error is the `TimeoutError` of this deadline.
   *
   * @internal
   */
  isExpiry(error: unknown): boolean {
    return this.#timeoutError !== undefined && error === this.#timeoutError;
  }

  /** Disposes, and aborts a signal of its own, as the end of a wait cancels its context in Go. */
  cancel(): void {
    this.#abort();
  }

  /** Stops the timer and leaves the parent. */
  [Symbol.dispose](): void {
    this.#timer?.stop();
    this.#subscription?.[Symbol.dispose]();
  }

  #arm(): void {
    const { label = "timeout" } = this.#options;
    if (this.#timer !== undefined) this.#timer.reset(this.#timeout);
    else this.#timer = this.#clock.afterFunc(this.#timeout, () => this.#expire(), { label });
  }

  #expire(): void {
    const { cause, message } = this.#options;
    const text = typeof message === "function" ? message() : message;
    this.#timeoutError = new TimeoutError(this.#timeout, { ...causeOf(cause), message: text });
    this.#abort(this.#timeoutError);
  }

  #abort(reason?: unknown): void {
    this[Symbol.dispose]();
    if (this.#end instanceof LinkedController) this.#end.abort(reason);
  }
}

function causeOf(cause: (() => unknown) | undefined): ErrorOptions | undefined {
  let value: unknown;
  try {
    value = cause?.();
  } catch (error) {
    value = error;
  }
  return value === undefined ? undefined : { cause: value };
}

/** Without the deadline: `TIMES` keeps a signal until a full collection, and would keep all that the options reach. */
function leftUntil(expiry: number, clock: Clock, parent: AbortSignal | undefined): () => number {
  return () => Math.max(Math.min(expiry - clock.monotonic(), timeLeft(parent)), 0);
}
