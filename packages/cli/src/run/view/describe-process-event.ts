import { formatDuration } from "../../arguments.ts";
import { dispatch, type Handlers } from "../core/dispatch.ts";
import type { ProcessEvent, StopReason } from "../core/event.ts";
import type { ProcessStatus } from "../core/status.ts";
import { formatRun } from "./format-run.ts";
import type { Line } from "./line.ts";

type Told = Omit<Line, "who"> | undefined;

const reasons: Record<StopReason, string> = {
  shutdown: "the supervisor stops",
  changed: "its manifest entry changed",
  removed: "it left the manifest",
  asked: "asked to restart",
  held: "asked to stop",
  dependency: "one that it depends on restarts",
};

const handlers: Handlers<ProcessStatus | undefined, Told> = {
  // Its start tells it.
  wanted: () => undefined,
  started: (_, { pid }) => ({ text: `Running, pid ${pid}`, tone: "good" }),
  // The edit tells it.
  updated: () => undefined,
  pending: (_, { reason }) =>
    reason === undefined ? undefined : { text: `Pending: ${reason}`, tone: "plain" },
  readiness: (_, { ready, target, reason }) =>
    ready
      ? { text: `ready: ${target} answers`, tone: "good" }
      : { text: `not ready: ${target}: ${reason}`, tone: "warning" },
  unhealthy: (_, { reason }) => ({
    text: `stopping it, to start it again: ${reason}`,
    tone: "warning",
  }),
  terminating: (_, { reason, grace, signal }) => {
    const text = `Terminating, ${reasons[reason]}: ${signal}, grace ${formatDuration(grace)}`;
    return { text, tone: "plain" };
  },
  killing: (_, { grace }) => {
    return { text: `still running after ${formatDuration(grace)}: SIGKILL`, tone: "warning" };
  },
  exited: (_, { run, outcome }) => {
    if (outcome === "complete") return { text: `Completed: ${formatRun(run)}`, tone: "good" };
    if (outcome === "fail") return { text: `Failed: ${formatRun(run)}`, tone: "bad" };
    // The wait that follows tells it.
    return undefined;
  },
  waiting: (status, { delay }) => {
    const { lastRun, waitCount = 0 } = status ?? {};
    const why = lastRun === undefined ? "" : `: ${formatRun(lastRun)}`;
    const text = `CrashLoopBackOff, restart ${waitCount} in ${formatDuration(delay)}${why}`;
    return { text, tone: "warning" };
  },
  stopped: (_, { run }) => {
    return { text: run === undefined ? "Stopped" : `Stopped: ${formatRun(run)}`, tone: "plain" };
  },
  removed: () => ({ text: "gone", tone: "plain" }),
};

/**
 * The line that tells a change of a process; undefined where another event of the same instant does.
 *
 * @param status - as it is after the event; undefined if the process is gone
 */
export function describeProcessEvent(
  event: ProcessEvent,
  status: ProcessStatus | undefined,
): Line | undefined {
  const told = dispatch(handlers, status, event);
  return told && { who: event.name, ...told };
}
