import type { Fault } from "./plan.ts";
import type { Step } from "./step.ts";

/** Steps to show before the fault, and after it. */
const STEPS_BEFORE = 3;
const STEPS_AFTER = 6;

/** Facts of an {@link ExplorationError}. */
export interface ExplorationFailure {
  /** The fault in words, or undefined for the run without one. */
  readonly fault: string | undefined;
  /** Name of the world, for the option `only`. Undefined for the run without a fault. */
  readonly only: string | undefined;
  /** What went wrong: one line each. */
  readonly lines: readonly string[];
  /** The steps of the world. */
  readonly steps: readonly Step[];
  /** Number of the step to show. */
  readonly step: number;
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

  /** Code of every ExplorationError. */
  readonly code = "ERR_EXPLORATION";

  /** @internal */
  constructor(failure: ExplorationFailure) {
    super(messageOf(failure), { cause: failure.cause });
    this.only = failure.only;
  }
}

/** A fault in words. */
export function describeFault({ type, at }: Fault, steps: readonly Step[], instant = 0): string {
  if (type === "hand-over") return `hand-over at ${seconds(instant)}`;
  const text = steps[at - 1]?.text ?? "";
  const words: Readonly<Record<string, string>> = {
    "crash-before": "crash before",
    "crash-after": "crash after",
    "lost-lease": "lease lost after",
    "response-lost": "response lost of",
  };
  return `${words[type] ?? `${type} at`} step ${at}, ${text}`;
}

function messageOf({ fault, only, lines, steps, step }: ExplorationFailure): string {
  const shown = steps.slice(Math.max(0, step - 1 - STEPS_BEFORE), step + STEPS_AFTER);
  const head = fault === undefined ? "the program is wrong without any fault" : fault;
  const again =
    only === undefined ? [] : ["", `Run this world alone: only: ${JSON.stringify(only)}`];
  return [
    head,
    ...lines.map((line) => `  ${line}`),
    "",
    "Steps:",
    ...shown.map((one) => lineOf(one, one.number === step && fault !== undefined)),
    ...again,
  ].join("\n");
}

function lineOf({ number, text, at, replica }: Step, isFault: boolean): string {
  const mark = isFault ? ">" : " ";
  return `${mark} ${String(number).padStart(4)}  ${seconds(at)}  replica ${replica}  ${text}`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(3)} s`;
}
