import { ExplorationError } from "./exploration-error.ts";
import type { Journal } from "./journal.ts";
import type { Reference, Verdict, WorldEnd } from "./judge.ts";
import { hiddenBy } from "./mask.ts";
import { AT_REST, type Fault, HAND_OVER, type Plan, planName, SCENARIO_FIRST } from "./plan.ts";
import type { Note, Step } from "./step.ts";

/** Steps to show before the fault, and after it. */
const STEPS_BEFORE = 3;
const STEPS_AFTER = 6;

/** Lines of the log to show between two steps. */
const MAX_NOTES = 5;

/** Stands for the steps that are left out. */
const GAP = "     …";

/** The result of an exploration that has found nothing. The same seed gives the same report. */
export interface ExplorationReport {
  /** Number of worlds with faults that were run. */
  readonly worlds: number;

  /** Number of worlds that there are with one fault. */
  readonly planned: number;

  /**
   * Numbers of worlds that were not run, because of `time` or `worlds`, by type of fault; two types with a plus between
   * them after an upgrade, and `pairs`. Empty if all were run.
   */
  readonly notRun: Readonly<Record<string, number>>;

  /** Number of faults of each type that have happened. */
  readonly faults: Readonly<Record<string, number>>;

  /** Steps of the run without a fault, up to its last change. */
  readonly steps: readonly string[];

  /** Timers of the run without a fault that were due after `longestTimer`, by label: nothing is known of what they do. */
  readonly left: readonly string[];

  /** Parts of the last state that another seed or another time changes, by path: their values are not compared. */
  readonly masked: readonly string[];

  /** Milliseconds that passed on the clocks of all worlds. */
  readonly simulated: number;
}

/** A report that is written while worlds end. */
export type OpenReport = {
  -readonly [Name in keyof ExplorationReport]: ExplorationReport[Name];
} & {
  readonly faults: Record<string, number>;
  readonly notRun: Record<string, number>;
};

/** @param planned - number of worlds that there are with one fault */
export function openReport(
  { steps, left, masks, duration }: Reference,
  planned: number,
): OpenReport {
  const texts = steps.map(({ text }) => text);
  const masked = hiddenBy(masks);
  const counts = { worlds: 0, planned, notRun: {}, faults: {} };
  return { ...counts, steps: texts, left, masked, simulated: duration };
}

/** The error for a program or a test that is wrong without a fault, or for an exploration without a world. */
export function wrongWithout(
  lines: readonly string[],
  journal?: Journal,
  at?: number,
): ExplorationError {
  const { cause, isOfTest = false, step = 0 } = journal?.problem ?? {};
  const subject = isOfTest ? "test" : "program";
  const head = `the ${subject} is wrong without any fault`;
  const shown = journal === undefined ? [] : stepLines(journal, { step: at ?? step });
  return new ExplorationError(messageOf(head, lines, shown), { cause });
}

/** The error for a world with faults: their names, what is wrong, the steps around it, and how to run the world alone. */
export function wrongWith(
  plan: Plan,
  { journal }: WorldEnd,
  { lines, cause }: Verdict,
  instants: readonly number[],
): ExplorationError {
  const { steps, lastChange, restStep } = journal;
  const [first, second] = plan as readonly [Fault, Fault?]; // the run without one is judged elsewhere
  const faults = plan.map((fault) => describeFault(fault, steps, instants[fault.at - 1]));
  const stepOf = ({ type, at }: Fault): number =>
    type === HAND_OVER ? stepAt(steps, instants[at - 1]) : at;
  const step = first.type.endsWith(AT_REST) ? (second?.at ?? restStep) : stepOf(first);
  const shown = stepLines(journal, { step, isFault: true, lastChange });
  const only = planName(plan);
  const again = ["", `Run this world alone: only: ${JSON.stringify(only)}`];
  const message = [messageOf(faults.join("; then "), lines, shown), ...again].join("\n");
  return new ExplorationError(message, { only, cause });
}

/** A fault in words. */
function describeFault({ type, at }: Fault, steps: readonly Step[], instant = 0): string {
  if (type === HAND_OVER) return `hand-over at ${seconds(instant)}`;
  if (type.endsWith(AT_REST)) return `${type.slice(0, -AT_REST.length)} when nothing is left to do`;
  if (type === SCENARIO_FIRST) return "the scenario begins before the program is ready";
  const text = steps[at - 1]?.text ?? "";
  const words: Readonly<Record<string, string>> = {
    "crash-before": "crash before",
    "crash-after": "crash after",
    "crash-before-down": "crash, and no replica for a minute, before",
    "crash-after-down": "crash, and no replica for a minute, after",
    "lost-lease": "lease lost after",
    upgrade: "upgrade after",
    "roll-back": "roll-back after",
    "response-lost": "response lost of",
  };
  return `${words[type] ?? `${type} at`} step ${at}, ${text}`;
}

function messageOf(head: string, lines: readonly string[], shown: readonly string[]): string {
  const steps = shown.length > 0 ? ["", "Steps:", ...shown] : [];
  return [head, ...lines.map((line) => `  ${line}`), ...steps].join("\n");
}

/** A step to show. */
interface Shown {
  readonly step: number;
  /** Whether the fault has met it. */
  readonly isFault?: boolean;
  /** Number of the last step that changed the state, to show too. */
  readonly lastChange?: number;
}

function stepAt(steps: readonly Step[], instant = 0): number {
  return steps.find(({ at }) => at >= instant)?.number ?? steps.length;
}

/** The steps around one, the last change, and the notes between them. */
function stepLines(
  { steps, notes }: Journal,
  { step, isFault = false, lastChange = 0 }: Shown,
): string[] {
  const from = Math.max(0, step - 1 - STEPS_BEFORE);
  const end = step + STEPS_AFTER;
  const later = steps.slice(Math.max(end, lastChange - 1), lastChange);
  const after = (number: number): string[] =>
    notes.flatMap((note) => (note.after === number ? [noteLine(note)] : [])).slice(0, MAX_NOTES);
  const linesOf = (part: readonly Step[]): string[] =>
    part.flatMap((one) => [lineOf(one, isFault && one.number === step), ...after(one.number)]);
  return [
    ...(from === 0 ? after(0) : standing(notes, from).map(noteLine)),
    ...linesOf(steps.slice(from, end)),
    ...(later.length > 0 && lastChange > end + 1 ? [GAP] : []),
    ...linesOf(later),
  ];
}

/** How each replica was after a step: its latest note that is no line of a log. */
function standing(notes: readonly Note[], after: number): Note[] {
  const latest = new Map<number, Note>();
  for (const note of notes) if (!note.isLog && note.after <= after) latest.set(note.replica, note);
  return [...latest.values()];
}

function noteLine({ at, replica, text }: Note): string {
  return `        ${seconds(at)}  replica ${replica}  ${text}`;
}

function lineOf({ number, text, at, replica, outcome }: Step, isFault: boolean): string {
  const mark = isFault ? ">" : " ";
  const end = outcome === undefined || outcome === "" ? "" : ` → ${outcome}`;
  return `${mark} ${String(number).padStart(4)}  ${seconds(at)}  replica ${replica}  ${text}${end}`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(3)} s`;
}
