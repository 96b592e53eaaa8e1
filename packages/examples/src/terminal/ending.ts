import type { Host } from "./host.ts";
import { onStopSignals, type StopRequest } from "./stop-signals.ts";

/** The end of a run, which comes as soon as the first of its reasons does. */
export interface Ending extends Disposable {
  readonly request: Promise<StopRequest>;
  /** Aborts when `request` resolves, with its reason in words. */
  readonly signal: AbortSignal;
}

/** What {@link ending} watches for. */
export interface EndingOptions {
  /** How long the run lasts at most, in milliseconds. */
  readonly duration: number;
  /** Called when somebody does not want to wait for the end. */
  readonly kill: () => void;
}

const BROKEN_PIPE = 141;

/** Everything that ends a run: its time, a signal, an output that nobody reads any more. */
export function ending({ clock, stdout }: Host, { duration, kill }: EndingOptions): Ending {
  const end = new AbortController();
  let settle!: (request: StopRequest) => void;
  const request = new Promise<StopRequest>((resolve) => {
    settle = resolve;
  });
  // The first counts.
  const stop = (reason: StopRequest): void => {
    settle(reason);
    end.abort(reason.why);
  };
  const timeUp: StopRequest = { why: "time is up", code: 0 };
  const timer = clock.afterFunc(duration, () => stop(timeUp), { label: "end of the run" });
  const signals = onStopSignals({ stop, kill });
  stdout.on("error", () => stop({ why: "the output was closed", code: BROKEN_PIPE }));
  const dispose = (): void => {
    timer.stop();
    signals[Symbol.dispose]();
  };
  return { request, signal: end.signal, [Symbol.dispose]: dispose };
}
