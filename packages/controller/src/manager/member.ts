import { isStop } from "../is-stop.ts";
import type { RunnableState } from "./manager-status.ts";
import type { Runnable } from "./runnable.ts";
import { RunnableError } from "./runnable-error.ts";

/** A runnable and what became of it. */
export class Member {
  readonly runnable: Runnable;
  #state: RunnableState = "waiting";

  constructor(runnable: Runnable) {
    this.runnable = runnable;
  }

  get name(): string {
    return this.runnable.name;
  }

  get state(): RunnableState {
    return this.#state;
  }

  /** Whether it was started and has not ended. */
  get isRunning(): boolean {
    return ["starting", "ready", "stopping"].includes(this.#state);
  }

  /** Starts it. Neither promise rejects; what goes wrong is reported once, when it happens. */
  start(
    signal: AbortSignal,
    report: (error: RunnableError) => void,
  ): { readonly ready: Promise<void>; readonly ended: Promise<void> } {
    this.#state = "starting";
    return { ended: this.#run(signal, report), ready: this.#becomeReady(signal, report) };
  }

  /** Its signal is about to abort. */
  tellToStop(): void {
    if (this.isRunning) this.#state = "stopping";
  }

  async #run(signal: AbortSignal, report: (error: RunnableError) => void): Promise<void> {
    try {
      await this.runnable.run(signal);
    } catch (cause) {
      if (isStop(cause, signal)) {
        this.#state = "stopped";
      } else {
        this.#state = "failed";
        report(new RunnableError(this.name, "failed", { cause }));
      }
      return;
    }
    this.#state = "stopped";
    if (!signal.aborted) report(new RunnableError(this.name, "ended"));
  }

  async #becomeReady(signal: AbortSignal, report: (error: RunnableError) => void): Promise<void> {
    try {
      await this.runnable.ready?.(signal);
      if (this.#state === "starting") this.#state = "ready";
    } catch (cause) {
      if (!isStop(cause, signal)) report(new RunnableError(this.name, "not ready", { cause }));
    }
  }
}
