import { poll, TimeoutError, withTimeout } from "@holdfast/wait";
import { formatDuration } from "../../arguments.ts";
import { addressOf, type ProbeSpec } from "../manifest/manifest.ts";
import type { BoundProbe, Machine } from "./machine.ts";

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

/** A probe in a few words. */
export function nameOf({ target }: BoundProbe): string {
  if (target.kind === "http") return `http://${addressOf(target)}${target.path}`;
  return target.kind === "tcp" ? `tcp:${addressOf(target)}` : "its command";
}

/** Options for {@link repeatProbe}. */
interface RepeatOptions {
  readonly signal: AbortSignal;
  /** Gets the reason of a failure, undefined after a success. Returns true to ask no more. */
  readonly onAnswer: (reason: string | undefined) => boolean;
}

/**
 * Asks again and again, a period after each answer, until `onAnswer` returns true or `signal` aborts.
 */
export async function repeatProbe(
  { period, timeout }: ProbeSpec,
  probe: BoundProbe,
  { clock, probe: create }: Pick<Machine, "clock" | "probe">,
  { signal, onAnswer }: RepeatOptions,
): Promise<void> {
  const ask = create(probe);
  const check = async (): Promise<boolean> => {
    const reason = await withTimeout(ask, timeout, { clock, signal }).then(
      () => undefined,
      (error: unknown) =>
        error instanceof TimeoutError
          ? `no answer within ${formatDuration(timeout)}`
          : (error as Error).message,
    );
    return !signal.aborted && onAnswer(reason) === true;
  };
  try {
    await poll(check, { interval: period, clock, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
