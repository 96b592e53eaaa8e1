import type { Clock } from "@holdfast/clock";
import { messageOf } from "@holdfast/kit";
import type { ResolvedExplore } from "./explore-options.ts";
import type { Journal } from "./journal.ts";
import { type Plan, SCENARIO_FIRST } from "./plan.ts";
import { type Readiness, StartError } from "./readiness.ts";
import { ReplicaClock } from "./replica-clock.ts";
import { longestWait } from "./settling.ts";
import type { Systems } from "./systems.ts";

/** The scenario of a test has failed. */
export class ScenarioError extends Error {}

/** The parts of a world that its users see. */
export interface UsedWorld<Outside> {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly readiness: Readiness;
  readonly systems: Systems<Outside>;
  readonly plan: Plan;
}

/**
 * Does what users do, until the scenario ends.
 *
 * @throws ScenarioError if the scenario throws, or never ends
 */
export async function playScenario<Outside>(
  options: ResolvedExplore<Outside>,
  world: UsedWorld<Outside>,
): Promise<void> {
  const { scenario, quiet } = options;
  const { journal, systems } = world;
  const clock = new ReplicaClock(world.clock);
  const ready = (): Promise<void> => readyIn(world, longestWait(options));
  const played = scenario({ world: systems.outside, clock, ready }).then(() => false, failed);
  let isOpen = true;
  while (isOpen) {
    const timer = world.clock.newTimer(quiet, { label: "scenario" });
    isOpen = await Promise.race([played, timer.fired]);
    timer.stop();
    const hasLongTimer = clock
      .pending()
      .some(({ deadline }) => deadline > clock.monotonic() + quiet);
    const isIdle = journal.now - journal.busyAt > longestWait(options);
    if (isOpen && isIdle && !hasLongTimer)
      throw new ScenarioError("the scenario never ends: it waits for something that does not come");
  }
}

/** Resolves when the program is ready: at once, if it has not said that it starts, or if the plan does not wait. */
async function readyIn<Outside>(
  { clock, journal, readiness, plan }: UsedWorld<Outside>,
  limit: number,
): Promise<void> {
  const early = plan.find(({ type }) => type === SCENARIO_FIRST);
  if (early !== undefined) journal.fired.add(early);
  await Promise.resolve(); // a program says that it starts in its first turn
  if (early !== undefined || readiness.part === undefined) return;
  await readiness.wait(clock, limit);
}

function failed(cause: unknown): never {
  // A program that is not ready is not the fault of the scenario.
  if (cause instanceof StartError) throw cause;
  const isAssertion = (cause as { name?: unknown })?.name === "AssertionError";
  const part = isAssertion ? "an assertion of " : "";
  throw new ScenarioError(`${part}the scenario failed: ${messageOf(cause)}`, { cause });
}
