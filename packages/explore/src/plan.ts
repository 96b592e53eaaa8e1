import type { Random } from "@holdfast/wait";
import type { Step } from "./step.ts";

/** A fault of a world: what happens, and where. */
export interface Fault {
  /** Type of the fault, for example `crash-after`. */
  readonly type: string;
  /** Number of the step that it meets; for a hand-over, the number of its instant. */
  readonly at: number;
}

/** The faults of one world, first to last. */
export type Plan = readonly Fault[];

/** Faults beside the steps. */
export const HAND_OVER = "hand-over";
export const SCENARIO_FIRST = "scenario-first";

/** Changes of versions: after a step, or when nothing is left to do. */
const UPGRADE = "upgrade";
const ROLL_BACK = "roll-back";
export const AT_REST = "-at-rest";

/** Whether a fault is a change of versions. */
export function isOfUpgrade(type: string): boolean {
  return type.startsWith(UPGRADE) || isRollBack(type);
}

/** Whether the old version begins, and the new one takes over. */
export function beginsOld([first]: Plan): boolean {
  return first?.type.startsWith(UPGRADE) ?? false;
}

/** Whether the old version has the last word. */
export function isRollBack(type: string): boolean {
  return type.startsWith(ROLL_BACK);
}

/** The changes of versions: from the old one after each of its steps, and back after each of the new one. */
export function upgradesOf(
  { old, current }: { readonly old: readonly Step[]; readonly current: readonly Step[] },
  without: readonly string[],
): Fault[] {
  const after = (type: string, steps: readonly Step[]): Fault[] => [
    ...steps.map(({ number }) => ({ type, at: number })),
    { type: `${type}${AT_REST}`, at: 1 },
  ];
  return [...after(UPGRADE, old), ...after(ROLL_BACK, current)].filter(
    ({ type }) => !without.includes(type),
  );
}

/** Name of a plan, as the option `only` takes it: `crash-after:4`, or two with a plus between them. */
export function planName(plan: Plan): string {
  return plan.map(({ type, at }) => `${type}:${at}`).join("+");
}

/** Type of a plan: that of its fault, or two with a plus between them. */
export function typeOf(plan: Plan): string {
  return plan.map(({ type }) => type).join("+");
}

/** The parts of a world in which faults can happen. */
export interface Places {
  readonly steps: readonly Step[];
  /** Instants at which something happened, each in another second. */
  readonly instants: readonly number[];
  /** Whether the scenario waits for the program, and may begin before. */
  readonly hasStart: boolean;
  /** Number of the last step before a change of versions at rest. */
  readonly restStep?: number;
}

/** Every fault: by step, then by type, then those beside the steps. */
export function faultsOf(
  { steps, instants, hasStart }: Places,
  without: readonly string[],
): Fault[] {
  const ofSteps = steps.flatMap(({ number, faults }) =>
    faults.map((type) => ({ type, at: number })),
  );
  const handOvers = instants.map((_, index) => ({ type: HAND_OVER, at: index + 1 }));
  const starts = hasStart ? [{ type: SCENARIO_FIRST, at: 1 }] : [];
  return [...ofSteps, ...handOvers, ...starts].filter(({ type }) => !without.includes(type));
}

function isBesideSteps({ type }: Fault): boolean {
  return type === HAND_OVER || type === SCENARIO_FIRST;
}

/** Whether a fault keeps the program from its users for a minute. Two in a row would for two. */
function isAway({ type }: Fault): boolean {
  return type.endsWith("-down") || type === "event-late" || type === "lost-lease";
}

/** The faults that can come after one, in the world that has it. */
export function faultsAfter(first: Fault, places: Places, without: readonly string[]): Fault[] {
  const { steps, instants, restStep = 0 } = places;
  if (first.type.endsWith(AT_REST))
    return faultsOf({ ...places, hasStart: false, instants: [] }, without).filter(
      ({ at }) => at > restStep,
    );
  const instantOf = (fault: Fault): number =>
    (isBesideSteps(fault) ? instants[fault.at - 1] : steps[fault.at - 1]?.at) ?? 0;
  const begun = instantOf(first);
  return faultsOf({ ...places, hasStart: false }, without).filter((fault) => {
    if (isAway(first) && isAway(fault)) return false;
    if (fault.type === HAND_OVER) return instantOf(fault) > begun;
    return isBesideSteps(first) ? instantOf(fault) >= begun : fault.at > first.at;
  });
}

/** A fault whose world has run, and where a second one can meet that world. */
export interface FirstFault {
  readonly fault: Fault;
  readonly places: Places;
}

/** What is drawn of plans, and by which randomness. */
export interface Draw {
  readonly count: number;
  readonly random: Random;
}

/** Every fault of the steps that follow a change of versions at rest. */
export function upgradesWithFaults(
  firsts: readonly FirstFault[],
  without: readonly string[],
): Plan[] {
  return firsts
    .filter(({ fault }) => fault.type.endsWith(AT_REST))
    .flatMap(({ fault, places }) =>
      faultsAfter(fault, places, without).map((second) => [fault, second]),
    );
}

/** Writes whose response is lost and whose event is late: the cache of the next attempt does not have them. */
function unseenWrites(firsts: readonly FirstFault[], without: readonly string[]): Plan[] {
  return firsts.flatMap(({ fault, places }) => {
    const step = places.steps[fault.at - 1];
    if (fault.type !== "response-lost" || step === undefined || step.reads) return [];
    const echo = faultsAfter(fault, places, without).find(
      ({ type, at }) => type === "event-late" && places.steps[at - 1]?.at === step.at,
    );
    return echo === undefined ? [] : [[fault, echo]];
  });
}

/** Calls that fail, and fail again when they are made the next time. */
function repeats(firsts: readonly FirstFault[], without: readonly string[]): Plan[] {
  return firsts.flatMap(({ fault, places }) => {
    if (fault.type !== "call-failed" && fault.type !== "server-error") return [];
    const { text } = places.steps[fault.at - 1] ?? {};
    const again = faultsAfter(fault, places, without).find(
      ({ type, at }) => type === fault.type && places.steps[at - 1]?.text === text,
    );
    return again === undefined ? [] : [[fault, again]];
  });
}

/**
 * Plans with two faults: one that was run, and one of the steps that its world had after it. Every second one is an unseen
 * write, or a call that fails twice, until those are through. In most others, the second fault meets a step that is there
 * because of the first, while there are others of the kind. None, if no fault can come after another.
 *
 * @param known - the steps without a fault
 */
export function* drawPairs(
  firsts: readonly FirstFault[],
  known: readonly Step[],
  without: readonly string[],
  { count, random }: Draw,
): Generator<Plan> {
  const index = (list: readonly unknown[]): number => Math.floor(random() * list.length);
  const pairs = firsts
    .map((first) => ({ ...first, seconds: faultsAfter(first.fault, first.places, without) }))
    .filter(({ seconds }) => seconds.length > 0);
  if (pairs.length === 0) return;
  const ofAdded = pairs.flatMap(({ fault, places, seconds }) => {
    const added = addedSteps(places.steps, known);
    return seconds
      .filter(({ type, at }) => type !== HAND_OVER && added.has(at))
      .map((second): Plan => [fault, second]);
  });
  const draw = (): Plan => {
    const { fault, seconds } = pairs[index(pairs)] as (typeof pairs)[number];
    return [fault, seconds[index(seconds)] as Fault];
  };
  const usual = [...unseenWrites(firsts, without), ...repeats(firsts, without)];
  for (let left = count; left > 0; left -= 1) {
    const [pair] = left % 2 === 0 ? usual.splice(0, 1) : [];
    if (pair !== undefined) {
      yield pair;
      continue;
    }
    const [plan] = left % 4 === 0 ? [] : ofAdded.splice(index(ofAdded), 1);
    yield plan ?? draw();
  }
}

/** Numbers of the steps that a world has more often than another one: those that its fault has led to. */
function addedSteps(steps: readonly Step[], known: readonly Step[]): Set<number> {
  const left = new Map<string, number>();
  for (const { text } of known) left.set(text, (left.get(text) ?? 0) + 1);
  const added = steps.filter(({ text }) => {
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count <= 0;
  });
  return new Set(added.map(({ number }) => number));
}

/** At most `count` of the plans, of all types alike: one of each type, then the next of each. */
export function drawPlans(plans: readonly Plan[], { count, random }: Draw): Plan[] {
  const lists = [...groups(plans).values()];
  const sizes = sharesOf(
    lists.map(({ length }) => length),
    count,
  );
  const drawn = lists.map((list, index) => drawOf(list, sizes[index] as number, random));
  const longest = Math.max(0, ...sizes);
  return Array.from({ length: longest }, (_, index) =>
    drawn.flatMap((list) => list.slice(index, index + 1)),
  ).flat();
}

function groups(plans: readonly Plan[]): Map<string, Plan[]> {
  const byType = new Map<string, Plan[]>();
  for (const plan of plans) {
    const group = byType.get(typeOf(plan)) ?? [];
    group.push(plan);
    byType.set(typeOf(plan), group);
  }
  return byType;
}

/** How many of each list to take, as equal as their lengths allow. */
function sharesOf(lengths: readonly number[], count: number): number[] {
  const shares = lengths.map(() => 0);
  let left = count;
  for (let share = 1; left > 0 && share <= Math.max(...lengths); share += 1)
    for (const [index, length] of lengths.entries())
      if (left > 0 && share <= length) {
        shares[index] = share;
        left -= 1;
      }
  return shares;
}

/** Some of a list, in its order. */
function drawOf<T>(list: readonly T[], count: number, random: Random): T[] {
  if (count === list.length) return [...list];
  const left = list.map((_, index) => index);
  const drawn = Array.from(
    { length: count },
    () => left.splice(Math.floor(random() * left.length), 1)[0] as number,
  );
  return drawn.sort((a, b) => a - b).map((index) => list[index] as T);
}
