const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** The reason for the end of a program, and its exit code. */
export interface StopRequest {
  readonly why: string;
  readonly code: number;
}

/** Callbacks of {@link onStopSignals}. */
export interface StopHandlers {
  /** Called at the first signal: stop gracefully. */
  readonly stop: (request: StopRequest) => void;
  /** Called at the second signal: kill. A third signal exits the process. */
  readonly kill: () => void;
}

/** Listens for SIGHUP, SIGINT and SIGTERM until disposed. */
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
