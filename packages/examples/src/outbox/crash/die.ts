import { type Clock, onAbort } from "@holdfast/clock";
import { poll } from "@holdfast/wait";
import { Worker } from "../worker/worker.ts";
import type { WorkerOptions } from "../worker/worker-options.ts";
import type { Round } from "./plan.ts";

/** How long a worker that should die by itself may take to get there, in milliseconds. */
const CRASH_TIMEOUT = 10_000;

/** How a worker ended. */
export interface Corpse {
  /** Whether it died where it should, and not because it never got there. */
  readonly isPlanned: boolean;
  /** Orders that it has not said to be placed. */
  readonly open: readonly number[];
}

/** Starts a worker, gives it orders, and lets it die as the round says. */
export async function die(
  { orders, death }: Round,
  options: WorkerOptions,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Corpse> {
  const open = new Set(orders);
  let isReady = false;
  const crash = death.at === "anywhere" ? undefined : { point: death.at, count: death.count };
  const worker = new Worker({ ...options, crash }, (report) => {
    if (report.type === "ready") isReady = true;
    if (report.type === "placed") open.delete(report.order);
  });
  using _ = onAbort(signal, () => worker.kill());
  const gone = new AbortController();
  const exited = worker.exited.finally(() => gone.abort());
  await poll(() => isReady, { backoff: { duration: 10 }, clock, signal: gone.signal });
  for (const order of orders) worker.place(order);
  const limit = death.at === "anywhere" ? death.after : CRASH_TIMEOUT;
  let isPlanned = true;
  using _limit = clock.afterFunc(limit, () => {
    isPlanned = death.at === "anywhere";
    worker.kill();
  });
  const exit = await exited;
  if (exit.signal !== "SIGKILL") throw new Error(`worker exited unexpectedly: ${exit.code}`);
  return { isPlanned, open: [...open] };
}
