import { constants } from "node:os";
import { processState } from "./proc.ts";

/**
 * What a signal to holdfast does.
 *
 * | Effect | The running command | holdfast |
 * | --- | --- | --- |
 * | `stop` | gets it | starts nothing more |
 * | `end` | gets it | goes on; without a command it ends |
 * | `pass` | gets it | goes on |
 * | `none` | does not get it | goes on |
 * | `default` | does not get it | what the system does, as no program may do otherwise |
 */
type Effect = "stop" | "end" | "pass" | "none" | "default";

const EFFECTS: Readonly<Record<NodeJS.Signals, Effect>> = {
  SIGHUP: "stop",
  SIGINT: "stop",
  SIGQUIT: "stop",
  SIGTERM: "stop",
  // The system ends a program that does not expect them. Some programs do: Puma prints its threads at SIGPWR.
  SIGABRT: "end",
  SIGALRM: "end",
  SIGIO: "end",
  SIGIOT: "end",
  SIGPOLL: "end",
  SIGPWR: "end",
  SIGSTKFLT: "end",
  SIGVTALRM: "end",
  SIGXCPU: "end",
  SIGCONT: "pass",
  SIGINFO: "pass",
  SIGTSTP: "pass",
  SIGURG: "pass",
  SIGUSR1: "pass",
  SIGUSR2: "pass",
  SIGWINCH: "pass",
  // They are about holdfast itself: the profiler of its runtime, the limit of its files.
  SIGPROF: "none",
  SIGXFSZ: "none",
  // They end no program of Node.
  SIGCHLD: "default",
  SIGPIPE: "default",
  // Faults of the program itself: its next instruction would fail again.
  SIGBUS: "default",
  SIGFPE: "default",
  SIGILL: "default",
  SIGSEGV: "default",
  SIGSYS: "default",
  SIGTRAP: "default",
  SIGUNUSED: "default",
  // Nobody can catch them.
  SIGKILL: "default",
  SIGSTOP: "default",
  // Whoever catches them uses a terminal that another job has.
  SIGTTIN: "default",
  SIGTTOU: "default",
  // Not on a system that holdfast runs on.
  SIGBREAK: "default",
  SIGLOST: "default",
};

/** A terminal sends these to all of its foreground group, so to a command that keeps the terminal, too. */
export const FROM_TERMINAL: ReadonlySet<NodeJS.Signals> = new Set([
  "SIGCONT",
  "SIGHUP",
  "SIGINFO",
  "SIGINT",
  "SIGQUIT",
  "SIGTSTP",
  "SIGWINCH",
]);

/**
 * Whether a terminal that closes tells this process alone: it does so to the first process of its session. Known on
 * Linux.
 */
export function isSessionLeader(): boolean {
  return processState("self")?.session === process.pid;
}

/** The signals of this system by their effect. One with two names has the first. */
export function signalsWith(...effects: readonly Effect[]): readonly NodeJS.Signals[] {
  const byNumber = new Map<number, NodeJS.Signals>();
  for (const [name, number] of Object.entries(constants.signals))
    if (!byNumber.has(number)) byNumber.set(number, name as NodeJS.Signals);
  return [...byNumber.values()].filter((name) => effects.includes(effectOf(name)));
}

export function effectOf(signal: NodeJS.Signals): Effect {
  return EFFECTS[signal];
}

/** Calls a function at each of some signals, until disposed. */
export function onSignals(
  signals: readonly NodeJS.Signals[],
  receive: (signal: NodeJS.Signals) => void,
): Disposable {
  const listeners = signals.map((signal) => [signal, () => receive(signal)] as const);
  for (const [signal, listener] of listeners) process.on(signal, listener);
  return {
    [Symbol.dispose]: () => {
      for (const [signal, listener] of listeners) process.off(signal, listener);
    },
  };
}
