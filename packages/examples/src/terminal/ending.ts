import type { Host } from "./host.ts";
import { onStopSignals, type StopRequest } from "./stop-signals.ts";

/** The end of a run, at the first of its reasons. */
export interface Ending extends Disposable {
  readonly request: Promise<StopRequest>;
  /** Aborts when `request` resolves, with `why` as its reason. */
  readonly signal: AbortSignal;
}

/** Options for {@link ending}. */
export interface EndingOptions {
  /** Maximum length of the run in milliseconds. */
  readonly duration: number;
  /** Called at the second stop signal: kills everything at once. */
  readonly kill: () => void;
}

const BROKEN_PIPE = 141;

/** Watches for everything that ends a run: its duration, a stop signal, a closed output. */
export function ending({ clock, stdout }: Host, { duration, kill }: EndingOptions): Ending {
  const end = new AbortController();
  let settle!: (request: StopRequest) => void;
  const request = new Promise<StopRequest>((resolve) => {
    settle = resolve;
  });
  // Only the first call has an effect.
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
