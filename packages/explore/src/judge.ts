import { show } from "@holdfast/kit";
import { differenceOf, isTree } from "./difference.ts";
import type { ResolvedExplore } from "./explore-options.ts";
import type { Journal, Problem } from "./journal.ts";
import { beginsWithHidden, comparable, type Masks } from "./mask.ts";
import type { Attempt } from "./order.ts";
import { isOfUpgrade, isRollBack, type Places, type Plan } from "./plan.ts";
import { parsed, plainOf, textOf } from "./state-text.ts";
import type { Step } from "./step.ts";

/** The end of a world. */
export interface WorldEnd {
  /** The last state, after the stop. */
  readonly state: unknown;
  /** The last state before the stop, as text. */
  readonly settled: string;
  /** What happened. */
  readonly journal: Journal;
  /** Milliseconds that the world lasted. */
  readonly duration: number;
  /** Numbers of `countsOf`. */
  readonly counts: ReadonlyMap<string, number>;
  /** Whether the program has said when it is ready. */
  readonly hasStart: boolean;
  /** The reconciles, in the order in which they began. */
  readonly attempts: readonly Attempt[];
  /** Instant at which the scenario ended. */
  readonly played: number;
  /** Instant from which the program may be late, and miss nothing that it has answered with more than reports. */
  readonly lateFrom: number;
  /** Labels of timers beyond the longest that a world waits for. */
  readonly left: readonly string[];
}

/** The end of the run without a fault. */
export interface Reference extends WorldEnd, Places {
  readonly masks: Masks;
}

type Expect = ResolvedExplore<never>["expect"];

/** What is wrong with a world: nothing, if there are no lines. */
export interface Verdict {
  readonly lines: readonly string[];
  readonly cause?: unknown;
}

/** The problem of a program that is started again on its last state, and changes it by a step. */
export function unstill(before: unknown, after: unknown, change: Step | undefined): Problem {
  const text = `a program that is started again on its last state changes it: ${change?.text}`;
  return { text, lines: differenceOf(before, after) };
}

/** The problem of a program that has left timers after its stop. */
export function leftovers(labels: readonly string[]): Problem {
  return { text: `${labels.length} timers are left after the stop: ${labels.join(", ")}` };
}

/** Where a second run with the same seed takes another course. */
export function otherCourse(
  first: readonly Step[],
  second: readonly Step[],
): { readonly step: number; readonly lines: readonly string[] } | undefined {
  const length = Math.max(first.length, second.length);
  for (let index = 0; index < length; index += 1) {
    const [one, other] = [courseOf(first[index]), courseOf(second[index])];
    if (one === other) continue;
    const found = `two runs with the same seed differ at step ${index + 1}: ${one}; ${other}`;
    const remedy =
      "it uses Math.random, crypto.randomUUID, Date.now, a real timer or real I/O: take random, uid and clock of the context";
    return { step: index + 1, lines: [`the program is not deterministic: ${found}`, remedy] };
  }
  return undefined;
}

/** A step without its arguments, which may have ids. */
function courseOf(step: Step | undefined): string {
  return step === undefined ? "no step" : `${step.text.replace(/\(.*/, "")} at ${step.at} ms`;
}

const FAULTS = [
  ...["crash-before", "crash-before-down", "crash-after", "crash-after-down", "lost-lease"],
  ...["response-lost", "call-failed", "conflict", "server-error", "too-many-requests", "expired"],
  ...["test-failed", "webhook-down", "webhook-slow", "webhook-refuses", "conversion-down"],
  ...["event-late", "events-lost", "foreign-condition", "hand-over", "scenario-first"],
  ...["upgrade", "upgrade-at-rest", "roll-back", "roll-back-at-rest"],
];

/** @throws RangeError that names a type of fault that the program cannot have */
export function requireKnownFaults(without: readonly string[], steps: readonly Step[]): void {
  const known = [...new Set([...FAULTS, ...steps.flatMap(({ faults }) => faults)])];
  for (const [index, type] of without.entries())
    if (!known.includes(type))
      throw new RangeError(
        `options.without[${index}] must be one of ${known.join(", ")}, got ${show(type)}`,
      );
}

/** What is wrong with the run without a fault: it fails, or it does nothing. */
export function verdictWithout(end: WorldEnd): readonly string[] {
  const { problem } = end.journal;
  return problem === undefined ? idleness(end) : linesOf(problem);
}

/** Says so if the program does nothing: every world passes then. A reconcile that rightly writes nothing is work. */
function idleness({ journal: { steps }, attempts }: WorldEnd): string[] {
  if (steps.some(({ reads, isDone = false }) => !reads && isDone)) return [];
  const refused = steps.find(({ reads }) => !reads);
  if (refused !== undefined)
    return [
      `the program does nothing: every write was refused, ${refused.text} with ${refused.outcome}`,
    ];
  return attempts.some(({ hasSucceeded }) => hasSucceeded)
    ? []
    : ["the program does nothing: it has no reconcile, no write and no call of a linked system"];
}

function linesOf({ text, lines = [] }: Problem): string[] {
  return [text, ...lines];
}

/** The run whose state a world must reach, with what may happen on the way. */
export function goalOf(
  [first]: Plan,
  { reference, old }: { readonly reference: Reference; readonly old: Reference | undefined },
): Reference {
  if (old === undefined || first === undefined || !isOfUpgrade(first.type)) return reference;
  const [goal, other] = isRollBack(first.type) ? [old, reference] : [reference, old];
  const counts = new Map(goal.counts);
  for (const [label, count] of other.counts)
    counts.set(label, Math.max(count, counts.get(label) ?? 0));
  return { ...goal, counts };
}

/** Whether a state before the stop is the one that a world must reach. */
export function expectationOf(
  { masks, settled }: Reference,
  expect: Expect,
): (state: unknown) => boolean {
  if (expect !== "same") return () => true;
  const comparedText = (state: unknown): string => textOf(comparable(state, masks));
  const wanted = comparedText(parsed(settled));
  return (state) => comparedText(state) === wanted;
}

/** What is wrong with a world with faults. */
export function verdictOn(
  { state, counts, journal: { problem } }: WorldEnd,
  goal: Reference,
  expect: Expect,
): Verdict {
  if (problem !== undefined) return { lines: linesOf(problem), cause: problem.cause };
  if (expect === "same") {
    const [wanted, got] = [goal.state, state].map((one) => comparable(one, goal.masks));
    return { lines: [...differenceOf(wanted, got), ...excess(goal, counts)] };
  }
  try {
    expect(state, goal.state);
  } catch (cause) {
    return { lines: [`options.expect: ${(cause as Error).message}`], cause };
  }
  return { lines: [] };
}

/** What has happened more often than in the reference. */
function excess({ counts: known, masks }: Reference, counts: WorldEnd["counts"]): string[] {
  return [...counts].flatMap(([label, count]) => {
    const expected = known.get(label) ?? 0;
    if (count <= expected || beginsWithHidden(label, masks)) return [];
    return [`${label}: ${times(count)}, without the fault ${times(expected)}`];
  });
}

/** Whether the difference of a world shows in a healthy run too, whose reconciles begin in another order. */
export function isAsIn(end: WorldEnd, other: WorldEnd, goal: Reference): boolean {
  if (end.journal.problem !== undefined || other.journal.problem !== undefined) return false;
  const { state, counts } = other;
  return verdictOn(end, { ...goal, state, counts }, "same").lines.length === 0;
}

/**
 * Whether a world ends as a healthy run whose reconciles begin as late, or lacks parts that it lacks too: any parts, or
 * nothing but whole objects and items of lists. An end of the second kind may count or number fewer edits, where the last
 * one is answered. Nothing happens more often than in the reference.
 */
export function isAsLate(
  end: WorldEnd,
  late: WorldEnd,
  goal: Reference,
  parts: "any" | "wholes",
): boolean {
  if (end.journal.problem !== undefined || late.journal.problem !== undefined) return false;
  const [most, state, least] = [goal, end, late].map((one) =>
    plainOf(comparable(one.state, goal.masks)),
  );
  if (excess(goal, end.counts).length > 0) return false;
  const answersEdits = goal.lateFrom < Number.POSITIVE_INFINITY;
  const countsFewer = answersEdits && hasLower(state, most) && !hasOther(state, most);
  const mayDiffer = parts === "any" || countsFewer;
  return (mayDiffer && isSame(state, least)) || isBetween(state, { most, least, parts });
}

/** Two states, and the parts that a state between them may lack. */
interface Bounds {
  readonly most: unknown;
  readonly least: unknown;
  readonly parts: "any" | "wholes";
}

/** Whether a state is another one without some parts, none of which a third one has. A list is that of either. */
function isBetween(state: unknown, { most, least, parts }: Bounds): boolean {
  if ((isList(state) || isList(most)) && isSame(state, least)) return true;
  if (!isTree(state) || !isTree(most) || Array.isArray(state)) return isSame(state, most);
  const lower = isTree(least) ? least : {};
  return Object.keys({ ...most, ...state }).every((name) =>
    name in state && name in most
      ? isBetween(state[name], { most: most[name], least: lower[name], parts })
      : !(name in state) && !(name in lower) && (parts === "any" || isTree(most[name])),
  );
}

/** Whether a value has items, also words with commas between them. */
function isList(value: unknown): boolean {
  return Array.isArray(value) || (typeof value === "string" && /^[\w.-]+(,[\w.-]+)+$/.test(value));
}

/** Whether a part of a state has more parts than that of another one, or lacks a field. Whole objects and items may lack. */
function hasOther(state: unknown, most: unknown): boolean {
  if (!isTree(state) || !isTree(most)) return isTree(state) !== isTree(most);
  const lost = Object.keys(most).filter((name) => !(name in state));
  const added = Object.keys(state).filter((name) => !(name in most));
  if (added.length > lost.length) return true;
  if (!Array.isArray(most) && lost.some((name) => !isTree(most[name]))) return true;
  return Object.keys(state).some((name) => name in most && hasOther(state[name], most[name]));
}

/** Whether a state has a lower number somewhere, or lower ones at the ends of names. */
function hasLower(state: unknown, most: unknown): boolean {
  if (!isTree(state) || !isTree(most)) return isLower(state, most);
  const names = Object.keys(state);
  const lost = Object.keys(most).filter((name) => !(name in state));
  return (
    names.some((name) => hasLower(state[name], most[name])) ||
    lost.some((name) => names.some((other) => isLower(other, name)))
  );
}

/** Whether two texts differ in the whole numbers at their ends, and the first has the lower one. */
function isLower(one: unknown, other: unknown): boolean {
  const [, stem, number] = /^(.*?)(\d+)$/.exec(`${one}`) ?? [];
  const [, otherStem, most] = /^(.*?)(\d+)$/.exec(`${other}`) ?? [];
  return number !== undefined && stem === otherStem && Number(number) < Number(most);
}

function isSame(one: unknown, other: unknown): boolean {
  return textOf(one) === textOf(other);
}

function times(count: number): string {
  return count === 1 ? "once" : count === 0 ? "never" : `${count} times`;
}
