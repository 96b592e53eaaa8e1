import { onAbort } from "@holdfast/clock";
import { until } from "@holdfast/wait/go";
import type { ReadinessSpec } from "../manifest/manifest.ts";
import type { Machine } from "./machine.ts";

/** Readiness by the last probes of a process. */
export interface Readiness {
  readonly ready: boolean;
  /** Failures in a row. */
  readonly failures: number;
}

export const NOT_READY: Readiness = { ready: false, failures: 0 };

/** One success makes ready; it takes `threshold` failures in a row to lose that. */
export function nextReadiness(state: Readiness, answered: boolean, threshold: number): Readiness {
  if (answered) return { ready: true, failures: 0 };
  const failures = state.failures + 1;
  return { ready: state.ready && failures < threshold, failures };
}

async function ask(
  url: string,
  timeout: number,
  { clock, probe }: Machine,
  signal: AbortSignal,
): Promise<boolean> {
  const giveUp = new AbortController();
  using _stop = onAbort(signal, (reason) => giveUp.abort(reason));
  using _timer = clock.afterFunc(timeout, () => giveUp.abort(), { label: `probe of ${url}` });
  return await probe(url, giveUp.signal);
}

/** Asks a process again and again whether it is ready, and tells each change, until `signal` aborts. */
export async function watchReadiness(
  spec: ReadinessSpec & { readonly url: string },
  machine: Machine,
  signal: AbortSignal,
  onChange: (ready: boolean) => void,
): Promise<void> {
  const { url, period, timeout, failures } = spec;
  let state = NOT_READY;
  const check = async (): Promise<void> => {
    const answered = await ask(url, timeout, machine, signal);
    if (signal.aborted) return;
    const before = state.ready;
    state = nextReadiness(state, answered, failures);
    if (state.ready !== before) onChange(state.ready);
  };
  await until(check, period, signal, { clock: machine.clock });
}
