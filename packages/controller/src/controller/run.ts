import type { Clock, Timer } from "@holdfast/clock";
import { TimeoutError } from "@holdfast/wait";
import { newerOf, type WorkItem } from "../queue/hand-out.ts";
import type { Request } from "../reconcile/reconcile.ts";
import type { Task } from "./task.ts";

/** What is the same for all runs of a controller. */
export interface RunOptions<Item> {
  readonly clock: Clock;
  readonly timeout: number;
  readonly abortGrace: number;
  /** It has not settled `abortGrace` after its signal has aborted. */
  readonly onStuck: (run: Run<Item>) => void;
}

/** Where a run is. A stuck one has been told to stop and does not; it has no worker any more. */
export type RunState = "running" | "stopping" | "stuck" | "settled";

/**
 * One call of a reconciler, as that sees it; it holds the hand-out of its key until it has settled. What
 * is the reconciler's business is in own fields, so that a copy has it; the signal would cost too much.
 */
export class Run<Item> implements Request<Item> {
  readonly key: string;
  readonly item: Item;
  readonly attempt: number;
  readonly reason: string;
  readonly #handOut: WorkItem<Task<Item>>;
  readonly #startedAt: number;
  #newer: Task<Item> | undefined = undefined;
  #state: RunState = "running";
  #aborted: "timeout" | "stop" | undefined = undefined;
  /** Made when somebody asks for the signal: most reconciles of nothing to do do not. */
  #controller: AbortController | undefined = undefined;
  #reason: unknown = undefined;
  #timer: Timer | undefined = undefined;
  readonly #options: RunOptions<Item>;

  constructor(handOut: WorkItem<Task<Item>>, attempt: number, options: RunOptions<Item>) {
    this.key = handOut.key;
    this.item = handOut.item.item;
    this.attempt = attempt;
    this.reason = handOut.item.reason;
    this.#handOut = handOut;
    this.#startedAt = options.clock.monotonic();
    this.#options = options;
  }

  get handOut(): WorkItem<Task<Item>> {
    return this.#handOut;
  }

  get startedAt(): number {
    return this.#startedAt;
  }

  /** What was added of the key since it was handed out, once it has settled. */
  get newer(): Task<Item> | undefined {
    return this.#newer;
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

  /** Who has told it to stop, first. */
  get aborted(): "timeout" | "stop" | undefined {
    return this.#aborted;
  }

  /** Its time begins to count. */
  begin(): void {
    const { clock, timeout } = this.#options;
    if (timeout < Number.POSITIVE_INFINITY)
      this.#timer = clock.afterFunc(
        timeout,
        () => this.abort("timeout", new TimeoutError(timeout)),
        { label: `timeout of ${this.key}` },
      );
  }

  /** Its reconcile has returned or thrown. */
  settle(): void {
    this.#state = "settled";
    this.#newer = newerOf(this.#handOut);
    this.#timer?.stop();
  }

  /** Tells it to stop, once, and frees the worker when it has not for a while. */
  abort(by: "timeout" | "stop", reason: unknown): void {
    if (this.#state !== "running") return;
    const { clock, abortGrace } = this.#options;
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
