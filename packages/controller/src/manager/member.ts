import { isStop } from "@holdfast/kit";
import type { RunOptions } from "../run-options.ts";
import type { RunnableState } from "./manager-status.ts";
import type { Runnable } from "./runnable.ts";
import { RunnableError, type RunnableProblem } from "./runnable-error.ts";

/** Options for starting a {@link Member}. */
export interface MemberStart {
  /** Options of its run. */
  readonly options: RunOptions;
  readonly report: (error: RunnableError) => void;
}

/** A runnable of a group, with its state. */
export class Member {
  readonly runnable: Runnable;
  /** Its own, since a runnable may have as many native listeners as it likes before Node warns. */
  readonly #stop = new AbortController();
  #state: RunnableState = "waiting";
  #rejected: RunnableError | undefined;

  constructor(runnable: Runnable) {
    this.runnable = runnable;
  }

  get name(): string {
    return this.runnable.name;
  }

  /** Undefined also for a time that has become invalid since it was added: it must not end the stop of the others. */
  get stopTimeout(): number | undefined {
    try {
      const { stopTimeout } = this.runnable;
      return Number(stopTimeout) >= 0 ? stopTimeout : undefined;
    } catch {
      return undefined;
    }
  }

  get state(): RunnableState {
    return this.#state;
  }

  /** Whether the runnable was started and has not ended. */
  get isRunning(): boolean {
    return ["starting", "ready", "stopping"].includes(this.#state);
  }

  /** Starts the runnable. Neither promise rejects; each problem is reported once, when it happens. */
  start({ options, report }: MemberStart): {
    readonly ready: Promise<void>;
    readonly ended: Promise<void>;
  } {
    this.#state = "starting";
    return {
      ended: this.#run(options, report),
      ready: this.#becomeReady(report),
    };
  }

  /** The signals of a group abort together, after every state of it has changed. */
  beginStop(): void {
    if (this.isRunning) this.#state = "stopping";
  }

  stop(reason: unknown): void {
    this.#stop.abort(reason);
  }

  async #run(options: RunOptions, report: MemberStart["report"]): Promise<void> {
    const { signal } = this.#stop;
    try {
      await this.runnable.run(signal, options);
    } catch (cause) {
      if (isStop(cause, signal)) {
        this.#state = "stopped";
      } else {
        this.#state = "failed";
        this.#reject(report, "failed", cause);
      }
      return;
    }
    this.#state = "stopped";
    if (!signal.aborted) report(new RunnableError(this.name, "ended"));
  }

  async #becomeReady(report: MemberStart["report"]): Promise<void> {
    const { signal } = this.#stop;
    try {
      await this.runnable.ready?.(signal);
      if (this.#state === "starting") this.#state = "ready";
    } catch (cause) {
      if (!isStop(cause, signal)) this.#reject(report, "not ready", cause);
    }
  }

  /** Reports an error once: a `run` that fails at its start often rejects `ready` with the same one. */
  #reject(report: MemberStart["report"], problem: RunnableProblem, cause: unknown): void {
    if (this.#rejected !== undefined && this.#rejected.cause === cause) return;
    this.#rejected = new RunnableError(this.name, problem, { cause });
    report(this.#rejected);
  }
}
