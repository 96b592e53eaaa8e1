import type { Clock } from "../clock.ts";
import { afterTurn, keepAlive } from "../host/platform.ts";
import { realClock } from "../real-clock.ts";

/**
 * Keeps the process alive until disposed, on `realClock` only: on any other clock it does nothing, so
 * that `waiters()` and `DeadlockError` are the same with and without it.
 */
export function holdOpen(clock: Clock): Disposable {
  return clock === realClock ? keepAlive() : { [Symbol.dispose]: () => {} };
}

/** Lets other work run: a turn of the event loop on `realClock`, a timer due now on any other. */
export function yieldTurn(clock: Clock): Promise<void> {
  return clock === realClock
    ? new Promise((resolve) => afterTurn(resolve))
    : clock.sleep(0, { label: "turn" });
}
