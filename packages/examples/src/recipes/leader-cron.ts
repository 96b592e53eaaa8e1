import { realClock } from "@holdfast/clock";
import { LeaderElector, type ResourceLock } from "@holdfast/controller";
import { every } from "@holdfast/wait";
import type { RecipeOptions } from "./recipe-options.ts";

/** Options for {@link leaderCron}. */
export interface LeaderCronOptions extends RecipeOptions {
  /** The lock shared by all processes. */
  readonly lock: ResourceLock;
  /** A name that no other process has. */
  readonly identity: string;
  /** Time between two runs of the job, in milliseconds. */
  readonly interval: number;
}

/**
 * Runs a job in one process of several: once at the start of its term, then once per interval.
 *
 * @param job - receives a signal that aborts when the term ends, and the token of the term
 */
export async function leaderCron(
  job: (signal: AbortSignal, token: number) => unknown,
  options: LeaderCronOptions,
): Promise<void> {
  const {
    lock,
    identity,
    interval,
    signal,
    clock = realClock,
    random,
    log = console.log,
  } = options;
  await new LeaderElector({
    lock,
    identity,
    async lead({ signal: term, token }) {
      for await (const _ of every(interval, { immediate: true, signal: term, clock }))
        await job(term, token);
    },
    onNewLeader: (leader) => log(leader === undefined ? "no leader" : `leader: ${leader}`),
    onError: (error) => log(`${error}; trying again`),
    clock,
    random,
  }).run(signal);
}
