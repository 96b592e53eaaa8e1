import type { Clock, Timer } from "@holdfast/clock";
import { TimeoutError } from "@holdfast/wait";
import type { Leadership } from "../leadership.ts";
import type { WorkItem } from "../queue/backlog.ts";
import type { AbortCause } from "../reconcile/outcome.ts";
import type { ReconcileRequest } from "../reconcile/reconcile.ts";
import type { Task } from "./task.ts";

/** Limits that all runs of a controller share. */
export interface RunLimits<Item> {
  readonly clock: Clock;
  readonly timeout: number;
  readonly abortGrace: number;
  /** Called when a run has not settled `abortGrace` after the abort of its signal. */
  readonly onStuck: (run: Run<Item>) => void;
}

/** State of a run. A stuck run has ignored its abort signal for `abortGrace` and lost its worker. */
export type RunState = "running" | "stopping" | "stuck" | "settled";

/**
 * One call of a reconciler, as the reconciler sees it. The properties of the request are own fields, so that a copy has
 * them; the signal would cost too much.
 */
export class Run<Item> implements ReconcileRequest<Item> {
  readonly key: string;
  readonly item: Item;
  readonly attempt: number;
  readonly reason: string;
  readonly leadership: Leadership | undefined;
  readonly #startedAt: number;
  #state: RunState = "running";
  #aborted: AbortCause = undefined;
  /** Created when the signal is first read: most reconciles with nothing to do never read it. */
  #controller: AbortController | undefined = undefined;
  #reason: unknown = undefined;
  #timer: Timer | undefined = undefined;
  readonly #options: RunLimits<Item>;

  constructor(
    workItem: WorkItem<Task<Item>>,
    attempt: number,
    leadership: Leadership | undefined,
    options: RunLimits<Item>,
  ) {
    this.key = workItem.key;
    this.item = workItem.item.item;
    this.attempt = attempt;
    this.reason = workItem.item.reason;
    this.leadership = leadership;
    this.#startedAt = options.clock.monotonic();
    this.#options = options;
    const { clock, timeout } = options;
    if (timeout < Number.POSITIVE_INFINITY)
      this.#timer = clock.afterFunc(
        timeout,
        () => this.abort("timeout", new TimeoutError(timeout)),
        { label: `timeout of ${this.key}` },
      );
  }

  get startedAt(): number {
    return this.#startedAt;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  get state(): RunState {
    return this.#state;
  }

  /** The first cause of an abort. */
  get aborted(): AbortCause {
    return this.#aborted;
  }

  /** The reconcile has returned or thrown. */
  settle(): void {
    this.#state = "settled";
    this.#timer?.stop();
  }

  /** Aborts the signal, once, and declares the run stuck `abortGrace` milliseconds later. */
  abort(
    by: "timeout" | "stop",
    reason: unknown,
    abortGrace: number = this.#options.abortGrace,
  ): void {
    if (this.#state !== "running") return;
    const { clock } = this.#options;
    this.#state = "stopping";
    this.#aborted = by;
    this.#reason = reason;
    this.#timer?.stop();
    this.#timer = clock.afterFunc(abortGrace, () => this.#becomeStuck(), {
      label: `grace of ${this.key}`,
    });
    this.#controller?.abort(reason);
  }

  #becomeStuck(): void {
    this.#state = "stuck";
    this.#options.onStuck(this);
  }
}
