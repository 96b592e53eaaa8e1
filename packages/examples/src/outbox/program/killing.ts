import type { Clock } from "@holdfast/clock";
import { jitterUntil, type Random } from "@holdfast/wait";
import type { Crew } from "./crew.ts";

/** How to kill. */
export interface KillingOptions {
  readonly kills: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly onKill: (name: string) => void;
}

/** From one kill to the next, in milliseconds, and up to as much again at random. */
const PERIOD = 1_500;

/** Kills workers without a warning, one now and then, until there were enough or the signal aborts. */
export async function kill(
  crew: Crew,
  { kills, clock, random, onKill }: KillingOptions,
  signal: AbortSignal,
): Promise<void> {
  let left = kills;
  const done = new AbortController();
  const strike = (): void => {
    const { workers } = crew;
    const victim = workers[Math.floor(random() * workers.length)];
    if (victim === undefined) return; // All are just starting.
    victim.kill();
    onKill(victim.name);
    if (--left === 0) done.abort();
  };
  void signal;
  if (left > 0) await jitterUntil(strike, PERIOD, done.signal, { jitter: 1, clock, random });
}
