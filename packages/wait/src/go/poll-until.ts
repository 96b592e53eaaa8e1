import type { Clock, Timer } from "@holdfast/clock";
import { requireAtLeast } from "@holdfast/clock/internal";
import { toMilliseconds, toNanoseconds } from "../delay/nanoseconds.ts";
import { type BackoffManager, backoffManager, ReusedTimer } from "../loop/backoff-manager.ts";
import type { Condition, PollUntilOptions } from "./condition-options.ts";
import { pollCondition } from "./poll-condition.ts";

/**
 * Asks `condition` once per `interval` until it is true.
 *
 * Calls never overlap. Without `sliding` they keep to a beat that begins with the first: a condition
 * that outlasts its interval is asked again at once, what was missed is not made up for, and the
 * call after that is back on the beat.
 *
 * | What happens | What `pollUntil` does |
 * | --- | --- |
 * | `condition` is true | resolves, even if the signal has aborted meanwhile |
 * | `condition` throws or rejects, `onError` is given | hands the error over, goes on as after false |
 * | `condition` throws or rejects otherwise | rejects with that error |
 * | `signal` is aborted already | with `immediate` asks once all the same; then rejects with `signal.reason` |
 * | `signal` aborts during a delay | stops the timer and rejects at once with `signal.reason` itself |
 * | `signal` aborts during a call | waits for it to settle; if it is not true, rejects with `signal.reason` |
 * | `timeout` is over | the same, with a `TimeoutError` |
 *
 * @param condition - what to ask. It receives a signal that aborts with `signal` and with the
 * timeout, and should give up soon after
 * @param interval - milliseconds, finite, at least 0; with 0 it is asked again without any delay
 * @param options - see {@link PollUntilOptions}
 * @returns a promise that settles when the poll has ended and no timer or listener is left; bad
 * arguments reject it with a RangeError or TypeError
 *
 * @remarks
 * Two surprises are kept from Go. An immediate poll asks once even if it has been aborted or its
 * timeout is 0; and a poll that is not immediate and whose timeout is shorter than its interval
 * never asks. Unlike there, what aborts comes before a delay that ends at the same instant, and
 * `sliding` is honoured.
 *
 * Source: `PollUntilContextCancel` and `PollUntilContextTimeout` of
 * k8s.io/apimachinery/pkg/util/wait.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { pollUntil } from "@holdfast/wait/go";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const isReady = () => clock.monotonic() - start >= 1_800;
 *
 * await clock.run(() => pollUntil(isReady, 500, { timeout: 30_000, clock }));
 * console.log(clock.monotonic() - start); // => 2000
 *
 * const never = clock.run(() => pollUntil(() => false, 500, { timeout: 1_200, clock }));
 * console.log(`${await never.catch((error: unknown) => error)}`);
 * // => TimeoutError: timed out after 1200 ms
 * ```
 */
export async function pollUntil(
  condition: Condition,
  interval: number,
  options: PollUntilOptions = {},
): Promise<void> {
  requireAtLeast("interval", interval, 0);
  await pollCondition(condition, options, (sliding, clock) =>
    sliding
      ? backoffManager({ delayFunc: () => () => interval }, { clock })
      : new TickingManager(interval, clock),
  );
}

/**
 * The beat of a ticker: each delay ends at the next whole multiple of the interval, counted from the
 * first call. A late call meets the beat again; missed beats are not made up for.
 */
class TickingManager implements BackoffManager {
  readonly #clock: Clock;
  readonly #timer: ReusedTimer;
  readonly #interval: number;
  #start: number | undefined = undefined;

  /** @param interval - milliseconds, at least 0; 0 never waits */
  constructor(interval: number, clock: Clock) {
    this.#clock = clock;
    this.#timer = new ReusedTimer("options.clock", clock);
    this.#interval = toNanoseconds(interval);
  }

  backoff(): Timer {
    const now = this.#clock.monotonic();
    this.#start ??= now;
    const interval = this.#interval;
    const into = interval === 0 ? 0 : toNanoseconds(now - this.#start) % interval;
    return this.#timer.arm(toMilliseconds(interval - into));
  }
}
