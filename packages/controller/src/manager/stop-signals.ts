import type { PassiveClock } from "@holdfast/clock";

/** Source of the signals of the operating system. `process` is one as it is. */
export interface SignalSource {
  /** Calls `listener` whenever the signal arrives. */
  on(name: "SIGINT" | "SIGTERM", listener: () => void): unknown;

  /** Removes a listener. */
  off(name: "SIGINT" | "SIGTERM", listener: () => void): unknown;

  /** Ends the process at once. */
  exit(code: number): unknown;
}

// Shells report a process ended by a signal with exit code 128 plus the number of the signal.
const CODES = { SIGINT: 130, SIGTERM: 143 };
const NAMES = ["SIGINT", "SIGTERM"] as const;

/** Signals within this time of the first are one wish: a terminal and nodemon send several. Milliseconds. */
const ONE_WISH = 1_000;

/** Calls `stop` at the first signal, and ends the process at one of either kind at least 1 s later. */
export function onStopSignal(
  source: SignalSource,
  clock: PassiveClock,
  stop: (name: string) => void,
): Disposable {
  let firstAt: number | undefined;
  const listeners = NAMES.map((name) => {
    const listener = (): void => {
      const now = clock.monotonic();
      if (firstAt === undefined) {
        firstAt = now;
        stop(name);
      } else if (now - firstAt >= ONE_WISH) source.exit(CODES[name]);
    };
    return { name, listener };
  });
  const leave = (): void => {
    for (const { name, listener } of listeners) source.off(name, listener);
  };
  try {
    for (const { name, listener } of listeners) source.on(name, listener);
  } catch (error) {
    leave();
    throw error;
  }
  return { [Symbol.dispose]: leave };
}
