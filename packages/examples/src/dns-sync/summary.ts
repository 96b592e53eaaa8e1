import { formatDuration } from "../terminal/duration.ts";
import type { Baseline } from "./harness/baseline/baseline.ts";
import type { Faults } from "./harness/faults.ts";
import type { Harness } from "./harness/harness.ts";
import type { Invariant } from "./harness/invariants.ts";

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
  readonly baseline: string;
}

/** Sources of the figures. */
export interface Outcome {
  readonly seed: number;
  readonly begin: number;
  readonly harness: Harness;
  readonly faults: Faults;
  /** Result of the baseline, from {@link baselineText}. */
  readonly fate: string;
}

export function summaryOf({ seed, begin, harness, faults, fate }: Outcome): Summary {
  const { clock, api, population, drift, provider, invariants } = harness;
  return {
    seed,
    api: api.name,
    elapsed: clock.monotonic() - begin,
    faults: faults.count,
    edits: population.edits,
    handOvers: harness.handOvers,
    ...harness.reconciles,
    longestDrift: drift.longest,
    longestStop: harness.longestStop,
    requests: provider.requests,
    refused: provider.refused,
    invariants: invariants.list,
    baseline: fate,
  };
}

/** Result of the baseline in one line. */
export function baselineText({ death, drift, provider: { audit } }: Baseline): string {
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
  const { invariants, baseline, seed, api, elapsed } = summary;
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
    `baseline: ${baseline}`,
    "",
    ...verdict,
  ];
}
