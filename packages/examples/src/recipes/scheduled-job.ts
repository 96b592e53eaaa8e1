import { type Clock, realClock } from "@holdfast/clock";
import { LeaderElector, type ResourceLock } from "@holdfast/controller";
import type { Random } from "@holdfast/wait";
import type { Cron } from "croner";

/** Remembers the last run: one row of a table. */
export interface Runs {
  last(job: string): Promise<Date | undefined>;
  save(job: string, due: Date): Promise<void>;
}

export interface Job {
  readonly name: string;
  /** One schedule for each time of the day: of a list or a step, croner drops times when the clocks go forward. */
  readonly times: readonly Cron[];
  run(due: Date, signal: AbortSignal): Promise<void>;
}

const LONGEST_SLEEP = 60_000; // so that a change of the wall clock is noticed within a minute

/** Runs a job at each of its times, including those that passed while no replica led. */
export async function schedule(job: Job, runs: Runs, signal: AbortSignal, clock: Clock) {
  let last = await runs.last(job.name);
  if (last === undefined) {
    last = new Date(clock.now());
    await runs.save(job.name, last); // so that a crash before the first run does not lose it
  }
  while (!signal.aborted) {
    const due = nextOf(job.times, last);
    if (due === undefined) return; // the schedules have an end
    for (let rest = due.getTime() - clock.now(); rest > 0; rest = due.getTime() - clock.now())
      await clock.sleep(Math.min(rest, LONGEST_SLEEP), { signal });
    await job.run(due, signal);
    await runs.save(job.name, due);
    last = due;
  }
}

/** The first of the times after `last`. */
export function nextOf(times: readonly Cron[], last: Date): Date | undefined {
  const next = times.map((time) => time.nextRun(last)).filter((due) => due !== null);
  return next.sort((a, b) => a.getTime() - b.getTime())[0];
}

/** Runs a job in one of several replicas. */
export function scheduler(
  job: Job,
  options: { lock: ResourceLock; runs: Runs; identity: string; clock?: Clock; random?: Random },
) {
  const { lock, runs, identity, clock = realClock, random } = options;
  return new LeaderElector({
    lock,
    identity,
    clock,
    random,
    lead: ({ signal }) => schedule(job, runs, signal, clock),
    onError: (error) => console.error("scheduler:", error), // campaigns again
  });
}
