import { isStop } from "../is-stop.ts";
import type { RunnableState } from "./manager-status.ts";
import type { Runnable } from "./runnable.ts";
import { RunnableError } from "./runnable-error.ts";

/** Options for starting a {@link Member}. */
export interface MemberStart {
  readonly signal: AbortSignal;
  /** Whether its run keeps the process alive. */
  readonly ref: boolean;
  readonly report: (error: RunnableError) => void;
}

/** A runnable of a group, with its state. */
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

  /** Whether the runnable was started and has not ended. */
  get isRunning(): boolean {
    return ["starting", "ready", "stopping"].includes(this.#state);
  }

  /** Starts the runnable. Neither promise rejects; each problem is reported once, when it happens. */
  start({ signal, ref, report }: MemberStart): {
    readonly ready: Promise<void>;
    readonly ended: Promise<void>;
  } {
    this.#state = "starting";
    return {
      ended: this.#run({ signal, ref, report }),
      ready: this.#becomeReady({ signal, report }),
    };
  }

  /** The signal is about to abort. */
  tellToStop(): void {
    if (this.isRunning) this.#state = "stopping";
  }

  async #run({ signal, ref, report }: MemberStart): Promise<void> {
    try {
      await this.runnable.run(signal, { ref });
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

  async #becomeReady({ signal, report }: Omit<MemberStart, "ref">): Promise<void> {
    try {
      await this.runnable.ready?.(signal);
      if (this.#state === "starting") this.#state = "ready";
    } catch (cause) {
      if (!isStop(cause, signal)) report(new RunnableError(this.name, "not ready", { cause }));
    }
  }
}
