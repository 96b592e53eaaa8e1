import { type Clock, onAbort } from "@holdfast/clock";
import type { Random } from "@holdfast/wait";
import { until } from "@holdfast/wait/go";
import type { WorkerPool } from "./worker-pool.ts";

/** How often to look whether it is time, in milliseconds. */
const PERIOD = 20;

/** The last kill comes when this share of all messages has arrived, so that its effects show before the end. */
const LAST = 0.75;

/** Options for {@link killSome}. */
export interface KillingOptions {
  readonly kills: number;
  readonly messages: number;
  /** How many messages have arrived. */
  readonly arrived: () => number;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Kills workers without a warning, one now and then, until there were enough or the signal aborts.
 *
 * The moments are counted in messages that have arrived, so that a slow machine does not miss them.
 */
export async function killSome(
  pool: Pick<WorkerPool, "workers">,
  { kills, messages, arrived, clock, random }: KillingOptions,
  signal: AbortSignal,
): Promise<void> {
  const draw = (): number => Math.floor(random() * LAST * messages);
  const moments = Array.from({ length: kills }, draw).sort((a, b) => a - b);
  const done = new AbortController();
  using _ = onAbort(signal, () => done.abort());
  const look = (): void => {
    const [next] = moments;
    if (next === undefined) done.abort();
    else if (arrived() >= next && strike(pool, random)) moments.shift();
  };
  await until(look, PERIOD, done.signal, { clock });
}

/** @returns false if no worker can be killed: all are starting */
function strike({ workers }: Pick<WorkerPool, "workers">, random: Random): boolean {
  const victim = workers[Math.floor(random() * workers.length)];
  victim?.kill();
  return victim !== undefined;
}
