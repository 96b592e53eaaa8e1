import type { Clock } from "@holdfast/clock";
import { effectOf, onSignals, signalsWith } from "../signals.ts";
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
 * | ABRT, IO, PWR, VTALRM, XCPU | stop: they would end it, and leave its processes behind |
 * | USR1, USR2, ALRM and others | none |
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
  // A terminal suspends the supervisor with SIGTSTP: the shell has its turn, the processes go on.
  const caught = signalsWith("stop", "end", "pass", "none").filter((name) => name !== "SIGTSTP");
  return onSignals(caught, (signal) => {
    if (signal === "SIGQUIT") {
      onStop(signal);
      onKill(signal);
    } else if (signal === "SIGHUP" && !hasTerminal)
      // Also under nohup, which takes stdin from it. Node forgets that it ignores SIGHUP.
      onReload();
    else if (signal !== "SIGALRM" && ["stop", "end"].includes(effectOf(signal))) stop(signal);
  });
}
