import { expect, it } from "vitest";
import { nextPhase, type Phase, type PhaseEvent } from "../../src/run/core/phase.ts";

const PHASES: readonly Phase[] = [
  "Pending",
  "Running",
  "Terminating",
  "CrashLoopBackOff",
  "Completed",
  "Failed",
  "Stopped",
];
const EVENTS: readonly PhaseEvent[] = ["start", "restart", "complete", "fail", "terminate", "stop"];

const LEGAL: readonly (readonly [Phase, PhaseEvent, Phase])[] = [
  ["Pending", "start", "Running"],
  ["Pending", "restart", "CrashLoopBackOff"],
  ["Pending", "fail", "Failed"],
  ["Pending", "stop", "Stopped"],
  ["Running", "restart", "CrashLoopBackOff"],
  ["Running", "complete", "Completed"],
  ["Running", "fail", "Failed"],
  ["Running", "terminate", "Terminating"],
  ["Running", "stop", "Stopped"],
  ["Terminating", "stop", "Stopped"],
  ["CrashLoopBackOff", "start", "Running"],
  ["CrashLoopBackOff", "restart", "CrashLoopBackOff"],
  ["CrashLoopBackOff", "fail", "Failed"],
  ["CrashLoopBackOff", "stop", "Stopped"],
];

it.each(LEGAL)("%s, %s: %s", (phase, event, want) => {
  expect(nextPhase(phase, event)).toBe(want);
});

const ILLEGAL = PHASES.flatMap((phase) => EVENTS.map((event) => [phase, event] as const)).filter(
  ([phase, event]) => !LEGAL.some(([from, by]) => from === phase && by === event),
);

it.each(ILLEGAL)("%s, %s: a bug", (phase, event) => {
  expect(() => nextPhase(phase, event)).toThrow(`"${event}" is impossible while ${phase}`);
});
