import { formatDuration } from "../terminal/duration.ts";
import type { Faults } from "./stage/faults.ts";
import type { Invariant } from "./stage/invariants.ts";
import type { NaiveLane } from "./stage/naive/naive-lane.ts";
import type { Stage } from "./stage/stage.ts";

/** The figures of a run. Durations are in milliseconds. */
export interface Summary {
  readonly seed: number;
  readonly api: string;
  readonly elapsed: number;
  readonly faults: number;
  readonly edits: number;
  readonly reconciles: number;
  readonly failures: number;
  readonly handOvers: number;
  readonly longestDrift: number;
  readonly longestStop: number;
  readonly requests: number;
  readonly refused: number;
  readonly invariants: readonly Invariant[];
  readonly naive: string;
}

/** Sources of the figures. */
export interface Outcome {
  readonly seed: number;
  readonly begin: number;
  readonly stage: Stage;
  readonly faults: Faults;
  /** Result of the baseline, from {@link naiveText}. */
  readonly fate: string;
}

export function summaryOf({ seed, begin, stage, faults, fate }: Outcome): Summary {
  const { clock, api, population, drift, provider, invariants } = stage;
  return {
    seed,
    api: api.name,
    elapsed: clock.monotonic() - begin,
    faults: faults.count,
    edits: population.edits,
    handOvers: stage.handOvers,
    ...stage.reconciles,
    longestDrift: drift.longest,
    longestStop: stage.longestStop,
    requests: provider.requests,
    refused: provider.refused,
    invariants: invariants.list,
    naive: fate,
  };
}

/** Result of the baseline in one line. */
export function naiveText({ death, drift, provider: { audit } }: NaiveLane): string {
  const rest = `${audit.overlaps} overlapping writes, ${drift} records wrong`;
  return death === undefined
    ? `alive, ${rest}`
    : `dead after ${formatDuration(death.after)}, ${rest}: ${death.reason}`;
}

/**
 * Lists the broken invariants.
 *
 * @param isCheck - also lists invariants that were never checked
 */
export function problemsOf({ invariants }: Summary, isCheck: boolean): readonly string[] {
  return invariants
    .filter(({ state }) => state === "broken" || (isCheck && state === "unchecked"))
    .map(({ name, state, problem }) => `${name}: ${problem ?? state}`);
}

export function summaryLines(summary: Summary, problems: readonly string[]): string[] {
  const { invariants, naive, seed, api, elapsed } = summary;
  const facts = [
    `${summary.faults} faults`,
    `${summary.edits.toLocaleString("en")} edits`,
    `${summary.reconciles.toLocaleString("en")} reconciles, ${summary.failures} of them failed`,
    `${summary.requests.toLocaleString("en")} requests`,
    `${summary.handOvers} hand-overs`,
    `longest drift ${formatDuration(summary.longestDrift)}`,
    `longest stop ${formatDuration(summary.longestStop)}`,
  ];
  const width = Math.max(...invariants.map(({ name }) => name.length));
  const table = invariants.map(({ name, state, checks, problem }) =>
    `${name.padEnd(width)}  ${state.padEnd(9)}  ${checks}${problem ? `  ${problem}` : ""}`.trimEnd(),
  );
  const checked = invariants.filter(({ state }) => state !== "unchecked").length;
  const verdict =
    problems.length === 0
      ? [`${checked} of ${invariants.length} invariants checked; all of these held.`]
      : problems;
  return [
    `After ${formatDuration(elapsed)} on ${api}, seed ${seed}: ${facts.join(", ")}`,
    "",
    ...table,
    "",
    `baseline: ${naive}`,
    "",
    ...verdict,
  ];
}
