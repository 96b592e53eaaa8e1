import { onAbort, type Timer } from "@holdfast/clock";
import { type BackoffManager, backoffUntil, ExponentialBackoffManager } from "@holdfast/wait";
import type { ProcessSpec } from "../manifest/manifest.ts";
import { outcomeOf } from "./outcome.ts";
import type { Run } from "./process-table.ts";
import { runOnce, type Supervision } from "./run-once.ts";

/**
 * Keeps one process as its spec wants it, until that is done or `signal` aborts with a
 * {@link StopReason}. Nothing of it is left when the promise resolves.
 */
export async function supervise(
  spec: ProcessSpec,
  supervision: Supervision,
  signal: AbortSignal,
): Promise<void> {
  const { machine, report } = supervision;
  const { clock, random } = machine;
  const done = new AbortController();
  using _stop = onAbort(signal, (reason) => done.abort(reason));
  /** The life that ended because it was asked to. */
  let asked: Run | undefined;

  const live = async (): Promise<void> => {
    const run = await runOnce(spec, supervision, done.signal);
    if (run === undefined || signal.aborted) {
      asked = run;
      return;
    }
    const outcome = outcomeOf(spec.restart, run.exit);
    report({ type: "exited", run, outcome });
    if (outcome !== "restart") done.abort();
  };

  const exponential = new ExponentialBackoffManager({ ...spec.backoff, clock, random });
  const manager: BackoffManager = {
    backoff(): Timer {
      const now = clock.monotonic();
      const timer = exponential.backoff();
      const { deadline } = timer;
      if (!done.signal.aborted) report({ type: "waiting", delay: deadline - now, deadline });
      return timer;
    },
  };

  await backoffUntil(live, manager, true, done.signal);
  if (signal.aborted) report({ type: "stopped", run: asked });
}
