import type { Clock, TimeoutOptions, TimeoutSignal } from "./clock.ts";

/** The signal of `clock.timeout()`. The timer references the controller, so garbage collection loses no abort. */
export function timeoutSignal(clock: Clock, delay: number, options: TimeoutOptions): TimeoutSignal {
  const controller = new AbortController();
  const expire = (): void => {
    controller.abort(new DOMException(`timed out after ${delay} ms`, "TimeoutError"));
  };
  const timer = clock.afterFunc(delay, expire, { ref: false, label: options.label });
  return Object.assign(controller.signal, {
    [Symbol.dispose]: (): void => {
      timer.stop();
    },
  });
}
