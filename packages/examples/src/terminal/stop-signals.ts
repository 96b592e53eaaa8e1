const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** Why the program ends, and the exit code that says so. */
export interface StopRequest {
  readonly why: string;
  readonly code: number;
}

/** What {@link onStopSignals} calls. */
export interface StopHandlers {
  /** At the first signal: end in good order. */
  readonly stop: (request: StopRequest) => void;
  /** At the second: kill. A third ends the program wherever it is. */
  readonly kill: () => void;
}

/** Listens for the signals that mean "end", until disposed. */
export function onStopSignals({ stop, kill }: StopHandlers): Disposable {
  const names = Object.keys(NUMBERS) as (keyof typeof NUMBERS)[];
  let heard = 0;
  const hear = (signal: NodeJS.Signals): void => {
    const code = 128 + NUMBERS[signal as keyof typeof NUMBERS];
    heard++;
    if (heard === 1) stop({ why: signal, code });
    else if (heard === 2) kill();
    else process.exit(code);
  };
  for (const name of names) process.on(name, hear);
  const leave = (): void => {
    for (const name of names) process.off(name, hear);
  };
  return { [Symbol.dispose]: leave };
}
