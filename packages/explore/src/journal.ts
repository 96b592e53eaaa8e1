import type { Clock } from "@holdfast/clock";
import { messageOf } from "@holdfast/kit";
import type { Logger, LogLine } from "./logger.ts";
import type { Fault } from "./plan.ts";
import { shownValue } from "./state-text.ts";
import type { Note, Step, StepOptions } from "./step.ts";

/** Notes that a world keeps: a program that logs for ever must not fill the memory. */
const MAX_NOTES = 10_000;

/** Longest note. */
const MAX_TEXT = 200;

/** Most steps within a second. */
const MAX_STEPS = 5_000;

/** A failure that needs no comparison of states. */
export interface Problem {
  readonly text: string;
  /** More lines about it. */
  readonly lines?: readonly string[];
  readonly cause?: unknown;
  /** Whether the test is wrong, and not the program. */
  readonly isOfTest?: boolean;
}

/** What happened in a world, in order. Instants are milliseconds since the begin of the world. */
export class Journal {
  readonly steps: Step[] = [];
  readonly notes: Note[] = [];

  /** The faults of the plan that have happened. */
  readonly fired: Set<Fault> = new Set();

  /** The first problem, and the step that had changed the state last. */
  problem: (Problem & { readonly step: number }) | undefined;

  /** Number of the last step that changed the state. */
  lastChange = 0;

  /** Instant of the last change of the state, or of the last start of a replica. */
  busyAt = 0;

  /** Number of the last step before a change of versions at rest. */
  restStep = 0;
  readonly #clock: Clock;
  readonly #begin: number;
  #burst = { at: 0, from: 0 };

  /** Opens it at the begin of a world. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#begin = clock.monotonic();
  }

  get now(): number {
    return this.instantOf(this.#clock.monotonic());
  }

  /** The instant of a deadline on the clock of the world. */
  instantOf(deadline: number): number {
    return deadline - this.#begin;
  }

  /** The steps up to the last change, and a second longer: those that count. */
  get busySteps(): readonly Step[] {
    const end = (this.steps[this.lastChange - 1]?.at ?? 0) + 1_000;
    return this.steps.filter(({ at }) => at <= end);
  }

  /** Adds a step that begins. */
  begin(step: Omit<Step, "number" | "at">): Step {
    const begun = { ...step, number: this.steps.length + 1, at: this.now };
    this.steps.push(begun);
    return begun;
  }

  /** Whether too many steps follow each other without a pause. To be asked at each step. */
  isRacing(): boolean {
    const [now, count] = [this.now, this.steps.length];
    if (now - this.#burst.at > 1_000) this.#burst = { at: now, from: count };
    return count - this.#burst.from > MAX_STEPS;
  }

  /** A step has changed the state. */
  change(step: number): void {
    this.lastChange = step;
    this.busyAt = this.now;
  }

  fail(problem: Problem): void {
    this.problem ??= { ...problem, step: this.lastChange };
  }

  note(replica: number, text: string, isLog = false): void {
    if (this.notes.length === MAX_NOTES) return;
    this.notes.push({
      text: text.slice(0, MAX_TEXT),
      isLog,
      replica,
      at: this.now,
      after: this.steps.length,
    });
  }

  /** A logger for a replica: warnings and errors become notes, and `logger` gets every line. */
  loggerOf(replica: number, logger: Logger): Logger {
    const on =
      (level: LogLine[0]) =>
      (details: object, message: string): void => {
        if (level === "warn" || level === "error")
          this.note(replica, `${level}: ${message}${describe(details)}`, true);
        logger[level](details, message);
      };
    return { debug: on("debug"), info: on("info"), warn: on("warn"), error: on("error") };
  }
}

/** The problem of a program that goes on for ever. */
export function restless({ steps }: Journal): Problem {
  const last = steps.slice(-3).map(({ text }) => text);
  return { text: `the program never becomes quiet: its last steps are ${last.join("; ")}` };
}

/** The key and the error among the details of a log line. */
function describe(details: object): string {
  const { key, err } = details as { readonly key?: unknown; readonly err?: unknown };
  const parts = [
    ...(typeof key === "string" ? [key] : []),
    ...(err === undefined ? [] : [messageOf(err)]),
  ];
  return parts.length === 0 ? "" : ` (${parts.join(": ")})`;
}

/** The work of a step, which notes its outcome. */
export async function described<Value>(
  step: Step,
  work: Promise<Value>,
  { outcomeOf, fault }: StepOptions<Value> & { readonly fault: string | undefined },
): Promise<Value> {
  try {
    const value = await work;
    const { text, isRefused = false } = outcomeOf?.(value) ?? { text: shown(value) };
    step.outcome = text;
    step.isDone = !isRefused;
    return value;
  } catch (error) {
    step.outcome = fault?.replaceAll("-", " ") ?? messageOf(error).slice(0, MAX_OUTCOME);
    throw error;
  }
}

/** Longest outcome of a step that a report shows. */
const MAX_OUTCOME = 80;

function shown(value: unknown): string {
  return value === undefined ? "" : shownValue(value, MAX_OUTCOME);
}
