import { onAbort, type Timer } from "@holdfast/clock";
import type { BackoffManager } from "./backoff-manager.ts";

/** Everything in this package that repeats is one of these. */
export interface Loop {
  readonly run: (signal: AbortSignal) => unknown;
  readonly manager: BackoffManager;
  /** When a delay starts counting: true after `run` has settled, false when it is called. */
  readonly sliding: boolean;
  readonly signal: AbortSignal;
  readonly onError: ((error: unknown) => unknown) | undefined;
}

/**
 * Runs, waits, runs, until the signal aborts.
 *
 * The order of the calls is Go's: without `sliding` the timer is armed before the run, so that an
 * overrun is followed by the next run at once; the signal is looked at after every wait, so that a
 * timer that fires together with the abort does not start another run.
 */
export async function loop({ run, manager, sliding, signal, onError }: Loop): Promise<void> {
  if (signal.aborted) return;
  let timer: Timer | undefined;
  const subscription = onAbort(signal, () => timer?.stop());
  try {
    do {
      if (!sliding) timer = manager.backoff();
      await attempt(run, signal, onError);
      if (sliding) timer = manager.backoff();
    } while (!signal.aborted && (await timer?.fired) && !signal.aborted);
  } finally {
    subscription[Symbol.dispose]();
    timer?.stop();
  }
}

async function attempt(
  run: Loop["run"],
  signal: AbortSignal,
  onError: Loop["onError"],
): Promise<void> {
  const failure = await failureOf(() => run(signal), signal);
  if (failure === undefined) return;
  if (onError === undefined) throw failure.error;
  const secondFailure = await failureOf(() => onError(failure.error), signal);
  if (secondFailure !== undefined) throw secondFailure.error;
}

/** What `work` threw, unless that is only the stop it was told of. */
async function failureOf(
  work: () => unknown,
  signal: AbortSignal,
): Promise<{ readonly error: unknown } | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    const stoppedAsTold = signal.aborted && Object.is(error, signal.reason);
    return stoppedAsTold ? undefined : { error };
  }
}
