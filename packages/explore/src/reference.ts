import type { ResolvedExplore } from "./explore-options.ts";
import {
  otherCourse,
  type Reference,
  requireKnownFaults,
  verdictWithout,
  type WorldEnd,
} from "./judge.ts";
import { type Masks, masksOf } from "./mask.ts";
import { wrongWithout } from "./report.ts";
import { OTHER_BEGIN } from "./state-text.ts";
import type { Step } from "./step.ts";
import type { Version } from "./systems.ts";
import { type Course, World } from "./world.ts";

/**
 * Runs a version without a fault: it must take the same course each time, and differ by another seed in names and
 * values only.
 *
 * @throws ExplorationError if the program is wrong, RangeError for a fault that it cannot have
 */
export async function runReference<Outside>(
  options: ResolvedExplore<Outside>,
  version: Version,
): Promise<Reference> {
  const end = await runWithout(options, version);
  const again = await runWithout(options, version);
  const other = otherCourse(end.journal.steps, again.journal.steps);
  if (other !== undefined) throw wrongWithout(other.lines, end.journal, other.step);
  const steps = end.journal.busySteps;
  requireKnownFaults(options.without, steps);
  return {
    ...end,
    steps,
    instants: instantsOf(steps),
    masks: await masksFor(options, end, version),
  };
}

async function runWithout<Outside>(
  options: ResolvedExplore<Outside>,
  version: Version,
): Promise<WorldEnd> {
  const end = await new World(options, withoutFault(version)).run();
  const lines = verdictWithout(end);
  if (lines.length > 0) throw wrongWithout(lines, end.journal);
  return end;
}

function withoutFault(version: Version): Course {
  // Nobody knows the last state yet: the program may ask for a job outside that takes its time.
  return { plan: [], instants: [], isExpected: undefined, version, checks: "all" };
}

/** Instants at which steps begin, the first of each second. */
function instantsOf(steps: readonly Step[]): number[] {
  const instants = steps.map(({ at }) => at);
  const secondOf = (instant = -1): number => Math.floor(instant / 1_000);
  return instants.filter((at, index) => secondOf(at) !== secondOf(instants[index - 1]));
}

/** What another time and another seed change in the last state. */
async function masksFor<Outside>(
  options: ResolvedExplore<Outside>,
  { state }: WorldEnd,
  version: Version,
): Promise<Masks> {
  if (options.expect !== "same") return { time: undefined, seed: undefined };
  const other = await runWithout({ ...options, seed: options.seed + 1 }, version);
  const later = await new World(options, { ...withoutFault(version), begin: OTHER_BEGIN }).run();
  const ofTime = later.journal.problem === undefined ? later.state : undefined;
  const { lost, ...masks } = masksOf({ state, ofTime, ofSeed: other.state });
  if (lost.length === 0) return masks;
  const remedy = "leave it out by options.normalise or stateOf, or judge it by options.expect";
  const text = `another seed leads to another state: ${lost.join(", ")}`;
  throw wrongWithout([text, remedy], other.journal);
}
