import { messageOf } from "@holdfast/kit";
import type { Logger, LogLine } from "./logger.ts";
import { shownValue } from "./state-text.ts";
import type { Note, Step, StepOptions } from "./step.ts";

/** Notes that a world keeps: a program that logs for ever must not fill the memory. */
const MAX_NOTES = 10_000;

/** Longest note. */
const MAX_TEXT = 200;

/** Most steps within a second. */
const MAX_STEPS = 5_000;

/** What happened in a world, in order. */
export class Journal {
  readonly steps: Step[] = [];
  readonly notes: Note[] = [];
  readonly #now: () => number;
  #burst = { at: 0, from: 0 };

  /** @param now - milliseconds since the begin of the world */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Adds a step that begins. */
  begin(step: Omit<Step, "number" | "at">): Step {
    const begun = { ...step, number: this.steps.length + 1, at: this.#now() };
    this.steps.push(begun);
    return begun;
  }

  /** Whether too many steps follow each other without a pause. To be asked at each step. */
  isRacing(): boolean {
    const [now, count] = [this.#now(), this.steps.length];
    if (now - this.#burst.at > 1_000) this.#burst = { at: now, from: count };
    return count - this.#burst.from > MAX_STEPS;
  }

  note(replica: number, text: string, isLog = false): void {
    if (this.notes.length === MAX_NOTES) return;
    this.notes.push({
      text: text.slice(0, MAX_TEXT),
      isLog,
      replica,
      at: this.#now(),
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
