import { findByCode, type OptionNames, requireOptions } from "@holdfast/kit";
import { AT_REST, type Fault, HAND_OVER, SCENARIO_FIRST } from "./plan.ts";
import type { Note, Step } from "./step.ts";

const CODE = "ERR_CONTROLLER_EXPLORATION";

const OPTIONS: OptionNames<{ readonly only?: string | undefined; readonly cause?: unknown }> = {
  only: true,
  cause: true,
};

/** Steps to show before the fault, and after it. */
const STEPS_BEFORE = 3;
const STEPS_AFTER = 6;

/** Lines of the log to show between two steps. */
const MAX_NOTES = 5;

/** Stands for the steps that are left out. */
const GAP = "     …";

/** Facts of an {@link ExplorationError}. */
interface ExplorationFailure {
  /** The fault in words, or undefined for the run without one. */
  readonly fault: string | undefined;
  /** Whether the test is wrong without a fault, and not the program. */
  readonly isOfTest?: boolean;
  /** Name of the world, for the option `only`. Undefined for the run without a fault. */
  readonly only: string | undefined;
  /** What went wrong: one line each. */
  readonly lines: readonly string[];
  /** The steps of the world. */
  readonly steps: readonly Step[];
  /** Lines between them. */
  readonly notes?: readonly Note[];
  /** Number of the step to show. */
  readonly step: number;
  /** Number of the last step that changed the state, to show too. */
  readonly lastChange?: number;
  readonly cause?: unknown;
}

/**
 * An exploration has found a world that ends in another state, or a program that is wrong without any fault. The
 * message shows the fault, the difference, the steps around the fault, and how to run this world alone.
 */
export class ExplorationError extends Error {
  static {
    // A getter and not a field: the name is not shown as a property of the error.
    Object.defineProperty(ExplorationError.prototype, "name", { value: "ExplorationError" });
  }

  /** Name of the world, for the option `only`. Undefined if the program is wrong without a fault. */
  readonly only: string | undefined;

  /** Stable across versions and copies of this package. */
  readonly code: "ERR_CONTROLLER_EXPLORATION" = CODE;

  /**
   * @param message - the problem, and the steps that lead to it
   * @param options - the `cause`; `only`: the name of the world
   */
  constructor(
    message: string,
    options: { readonly only?: string | undefined; readonly cause?: unknown } = {},
  ) {
    requireOptions("options", options, "ExplorationError", OPTIONS);
    const { only, cause } = options;
    super(message, { cause });
    this.only = only;
  }
}

/** A fault in words. */
export function describeFault({ type, at }: Fault, steps: readonly Step[], instant = 0): string {
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

/** An error that shows a failure and the steps around it. */
export function explorationError(failure: ExplorationFailure): ExplorationError {
  const { only, cause } = failure;
  return new ExplorationError(messageOf(failure), { only, cause });
}

function messageOf(failure: ExplorationFailure): string {
  const { fault, isOfTest = false, only, lines } = failure;
  const subject = isOfTest ? "test" : "program";
  const shown = stepLines(failure);
  const again =
    only === undefined ? [] : ["", `Run this world alone: only: ${JSON.stringify(only)}`];
  return [
    fault ?? `the ${subject} is wrong without any fault`,
    ...lines.map((line) => `  ${line}`),
    ...(shown.length > 0 ? ["", "Steps:"] : []),
    ...shown,
    ...again,
  ].join("\n");
}

/** The steps around one, the last change, and the notes between them. */
function stepLines({ fault, steps, notes = [], step, lastChange = 0 }: ExplorationFailure) {
  const from = Math.max(0, step - 1 - STEPS_BEFORE);
  const end = step + STEPS_AFTER;
  const later = steps.slice(Math.max(end, lastChange - 1), lastChange);
  const after = (number: number): string[] =>
    notes.flatMap((note) => (note.after === number ? [noteLine(note)] : [])).slice(0, MAX_NOTES);
  const linesOf = (part: readonly Step[]): string[] =>
    part.flatMap((one) => [
      lineOf(one, one.number === step && fault !== undefined),
      ...after(one.number),
    ]);
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

/**
 * Whether an error is an {@link ExplorationError}, of this copy of the package or another, or has one among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 * @returns true if an exploration has found a problem
 *
 * @example
 * ```ts
 * import { ExplorationError, isExplorationError } from "@holdfast/explore";
 *
 * console.log(isExplorationError(new ExplorationError("lost a key")), isExplorationError(new Error("no"))); // => true false
 * ```
 */
export function isExplorationError(error: unknown): boolean {
  return findExplorationError(error) !== undefined;
}

/**
 * The first {@link ExplorationError} among an error and its causes, of this copy of the package or another.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 * @returns the error, with its fields; undefined if there is none
 *
 * @example
 * ```ts
 * import { ExplorationError, findExplorationError } from "@holdfast/explore";
 *
 * const caught: unknown = new Error("no luck", { cause: new ExplorationError("lost a key") });
 * console.log(findExplorationError(caught)?.message); // => lost a key
 * ```
 */
export function findExplorationError(error: unknown): ExplorationError | undefined {
  return findByCode<ExplorationError>(error, CODE);
}
