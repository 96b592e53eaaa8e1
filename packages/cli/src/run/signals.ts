import type { Clock } from "@holdfast/clock";
import { ONE_WISH } from "../stop-signals.ts";

/** What a signal asks of a supervisor. */
export interface RunSignalOptions {
  readonly clock: Clock;
  /** Whether SIGHUP means that the terminal is closed. */
  readonly hasTerminal: boolean;
  readonly onStop: (signal: NodeJS.Signals) => void;
  readonly onKill: (signal: NodeJS.Signals) => void;
  readonly onReload: () => void;
}

/**
 * Listens to the signals of a supervisor until disposed.
 *
 * | Signal | Effect |
 * | --- | --- |
 * | INT, TERM | stop; kill at a second one at least 1 s after the first |
 * | HUP | stop on a terminal, which is closed then; read the manifest again without one |
 * | QUIT | kill |
 * | USR1, USR2, ALRM | none |
 */
export function onRunSignals(options: RunSignalOptions): Disposable {
  const { clock, hasTerminal, onStop, onKill, onReload } = options;
  let firstAt: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    const now = clock.monotonic();
    // One Ctrl-C may arrive twice, from the terminal and from a parent.
    if (firstAt === undefined) onStop(signal);
    else if (signal !== "SIGHUP" && now - firstAt >= ONE_WISH) onKill(signal);
    firstAt ??= now;
  };
  const nothing = (): void => undefined;
  const listeners = new Map<NodeJS.Signals, (signal: NodeJS.Signals) => void>([
    ["SIGINT", stop],
    ["SIGTERM", stop],
    [
      "SIGQUIT",
      (signal) => {
        onStop(signal);
        onKill(signal);
      },
    ],
    ["SIGUSR1", nothing],
    ["SIGUSR2", nothing],
    ["SIGALRM", nothing],
    // Without a terminal also under nohup, which takes stdin from it. Node forgets that it ignores SIGHUP.
    ["SIGHUP", hasTerminal ? stop : onReload],
  ]);
  for (const [signal, listener] of listeners) process.on(signal, listener);
  return {
    [Symbol.dispose]: () => {
      for (const [signal, listener] of listeners) process.off(signal, listener);
    },
  };
}
