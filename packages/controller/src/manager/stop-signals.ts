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

/** Calls `stop` at the first signal and ends the process at the second, of either kind. */
export function onStopSignal(source: SignalSource, stop: (name: string) => void): Disposable {
  let isStopping = false;
  const listeners = NAMES.map((name) => {
    const listener = (): void => {
      if (isStopping) {
        source.exit(CODES[name]);
        return;
      }
      isStopping = true;
      stop(name);
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
