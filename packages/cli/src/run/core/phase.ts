import type { Outcome } from "./outcome.ts";

/** Where a process is in its life. */
export type Phase =
  | "Pending"
  | "Running"
  | "Terminating"
  | "CrashLoopBackOff"
  | "Completed"
  | "Failed"
  | "Stopped";

/** Event that changes the phase: the outcome of an exit, or an action of the supervisor. */
export type PhaseEvent = Outcome | "start" | "terminate" | "stop";

const table: Record<Phase, Partial<Record<PhaseEvent, Phase>>> = {
  // "restart" and "fail" without a start: the program cannot be started.
  Pending: { start: "Running", restart: "CrashLoopBackOff", fail: "Failed", stop: "Stopped" },
  Running: {
    restart: "CrashLoopBackOff",
    complete: "Completed",
    fail: "Failed",
    terminate: "Terminating",
    // It exited just before it was asked to.
    stop: "Stopped",
  },
  Terminating: { stop: "Stopped" },
  CrashLoopBackOff: {
    start: "Running",
    restart: "CrashLoopBackOff",
    fail: "Failed",
    stop: "Stopped",
  },
  Completed: {},
  Failed: {},
  Stopped: {},
};

/** The phase after an event. An event that cannot happen is a bug of the supervisor, and throws. */
export function nextPhase(phase: Phase, event: PhaseEvent): Phase {
  const next = table[phase][event];
  if (next === undefined) throw new Error(`supervisor: "${event}" is impossible while ${phase}`);
  return next;
}
