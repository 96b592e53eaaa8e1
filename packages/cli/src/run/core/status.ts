import { dispatch, type Handlers } from "./dispatch.ts";
import type { SupervisorEvent } from "./event.ts";
import { nextPhase, type Phase } from "./phase.ts";
import type { Run } from "./process-table.ts";

/** A wait as planned, and as the time from the exit to the next start turned out. */
interface Wait {
  readonly planned: number;
  /** Undefined while the wait lasts. */
  readonly measured: number | undefined;
}

/** All that there is to say about one process. Durations are in milliseconds. */
export interface ProcessStatus {
  readonly name: string;
  readonly phase: Phase;
  /** Undefined if it has no readiness check. */
  readonly ready: boolean | undefined;
  /** Why it is pending, or not ready. */
  readonly reason: string | undefined;
  /** Whether it stays pending for ever: what it waits for cannot happen any more. */
  readonly isBlocked: boolean;
  readonly pid: number | undefined;
  readonly starts: number;
  readonly lastRun: Run | undefined;
  readonly lastExitAt: number;
  /** The monotonic instant of the next start. */
  readonly nextStart: number | undefined;
  /** The newest waits, at most {@link KEPT_WAITS}. */
  readonly waits: readonly Wait[];
  /** How many waits there were in all. */
  readonly waitCount: number;
}

export type Statuses = ReadonlyMap<string, ProcessStatus>;

/** A supervisor may run for months; its memory does not grow with the restarts. */
const KEPT_WAITS = 10;

/** Status of a process before its first event. */
export function initialStatus(name: string, probed = false): ProcessStatus {
  return {
    name,
    phase: "Pending",
    ready: probed ? false : undefined,
    reason: undefined,
    isBlocked: false,
    pid: undefined,
    starts: 0,
    lastRun: undefined,
    lastExitAt: 0,
    nextStart: undefined,
    waits: [],
    waitCount: 0,
  };
}

function ended(status: ProcessStatus): ProcessStatus {
  const ready = status.ready === undefined ? undefined : false;
  return { ...status, pid: undefined, nextStart: undefined, ready, reason: undefined };
}

function measured({ waits, lastExitAt }: ProcessStatus, startedAt: number): readonly Wait[] {
  const last = waits.at(-1);
  if (last === undefined) return waits;
  return [...waits.slice(0, -1), { ...last, measured: startedAt - lastExitAt }];
}

const handlers: Handlers<ProcessStatus, ProcessStatus> = {
  wanted: (_, { name, probed }) => initialStatus(name, probed),
  started: (status, { pid, at }) => {
    const phase = nextPhase(status.phase, "start");
    return { ...ended(status), phase, pid, starts: status.starts + 1, waits: measured(status, at) };
  },
  updated: (status, { probed }) => ({
    ...status,
    ready: probed ? (status.ready ?? false) : undefined,
  }),
  pending: (status, { reason, isForEver }) => ({ ...status, reason, isBlocked: isForEver }),
  readiness: (status, { ready, reason }) => ({ ...status, ready, reason }),
  unhealthy: (status) => status,
  terminating: (status) => ({ ...status, phase: nextPhase(status.phase, "terminate") }),
  killing: (status) => status,
  exited: (status, { run: lastRun, at: lastExitAt, outcome }) => {
    const phase = nextPhase(status.phase, outcome);
    const waits = status.phase === "Running" ? status.waits : measured(status, lastExitAt);
    return { ...ended(status), phase, lastRun, lastExitAt, waits };
  },
  waiting: (status, { delay: planned, deadline: nextStart }) => {
    const waits = [...status.waits, { planned, measured: undefined }].slice(-KEPT_WAITS);
    return { ...status, nextStart, waits, waitCount: status.waitCount + 1 };
  },
  stopped: (status, { run }) => {
    const phase = nextPhase(status.phase, "stop");
    return { ...ended(status), phase, lastRun: run ?? status.lastRun };
  },
  removed: (status) => status,
};

/** The statuses after an event. */
export function reduce(statuses: Statuses, event: SupervisorEvent): Statuses {
  if (!("name" in event)) return statuses;
  const { name, type } = event;
  const next = new Map(statuses);
  if (type === "removed") next.delete(name);
  else next.set(name, dispatch(handlers, statuses.get(name) ?? initialStatus(name), event));
  return next;
}
