import {
  anything,
  callInOwnContext,
  type Kinds,
  messageOf,
  read,
  requireString,
} from "@holdfast/kit";
import type { ControllerMetrics } from "../controller-metrics.ts";
import type { Leadership } from "../leadership.ts";
import { newerOf, type WorkItem } from "../queue/backlog.ts";
import { AFTER_A_TURN } from "../queue/delayed-items.ts";
import { WorkQueue } from "../queue/work-queue.ts";
import {
  ADD_OPTIONS,
  type KeyedWorkQueueOptions,
  type WorkQueueArguments,
} from "../queue/work-queue-options.ts";
import { limitRetries, type Outcome, outcomeOf, type Settlement } from "../reconcile/outcome.ts";
import type { EnqueueOptions } from "../source/source.ts";
import { TurnBudget } from "../turn-budget.ts";
import type { ErrorOrigin, ResolvedControllerOptions } from "./controller-options.ts";
import type { ReconcileErrorStatus } from "./controller-status.ts";
import type { Hooks } from "./hooks.ts";
import { KeyFailures } from "./key-failures.ts";
import { PauseState } from "./pause-state.ts";
import { Run, type RunOptions } from "./run.ts";
import type { SlotTerms } from "./slot-terms.ts";
import type { Task } from "./task.ts";

export const ENQUEUE_OPTIONS: Kinds<EnqueueOptions> = { ...ADD_OPTIONS, reason: anything };

/** The workers of a controller, its queue, and the keys in flight. */
export class Workers<Item> {
  readonly pauseState: PauseState = new PauseState();
  readonly queue: WorkQueue<Task<Item>>;
  /** Whether the stop interrupted a reconcile. */
  hasInterrupted = false;
  /** Whether a key was taken and has not begun. */
  hasGivenBack = false;
  /** Called before each reconcile: it may stop the workers. */
  beforeReconcile: () => void = () => {};
  /** The term of all keys. */
  leadership: Leadership | undefined;
  /** The terms of the keys, which begin under no other. */
  slots: SlotTerms<Item> | undefined;
  readonly #options: ResolvedControllerOptions<Item>;
  readonly #hooks: Hooks;
  /** Called when {@link Workers.isIdle} may have changed. */
  readonly #onChange: () => void;
  /** The oldest first. In a map, settled runs survive most collections, which costs a third of a key. */
  readonly #runs: Run<Item>[] = [];
  readonly #runOptions: RunOptions<Item>;
  readonly #failures: KeyFailures;
  readonly #turns: TurnBudget;
  /** Number of live workers, without those that wait for stuck runs. */
  #alive = 0;
  /** Called when the last one has ended. */
  #onEmpty: () => void = () => {};
  #busy = 0;
  #lastError: ReconcileErrorStatus | undefined = undefined;

  constructor(options: ResolvedControllerOptions<Item>, hooks: Hooks, onChange: () => void) {
    const { name, clock, limiter, aging, fairBy, queueMetrics, timeout, abortGrace } = options;
    this.#options = options;
    this.#hooks = hooks;
    this.#onChange = onChange;
    this.#runOptions = { clock, timeout, abortGrace, onStuck: (run) => this.#replace(run) };
    this.#failures = new KeyFailures(limiter, hooks, clock);
    this.#turns = new TurnBudget(clock);
    const queue: KeyedWorkQueueOptions<Task<Item>> = {
      name,
      clock,
      limiter,
      aging,
      fairBy,
      metrics: hooks.guarded(queueMetrics),
      keyOf: keyOfTask,
    };
    // The compiler cannot see that a task is never a string, because its item type is generic.
    const args = [queue] as unknown as WorkQueueArguments<Task<Item>>;
    this.queue = new WorkQueue<Task<Item>>(...args);
  }

  get busy(): number {
    return this.#busy;
  }

  get lastError(): ReconcileErrorStatus | undefined {
    return this.#lastError;
  }

  /** The runs that have not settled, the oldest first. */
  get runs(): Iterable<Run<Item>> {
    return this.#runs;
  }

  /** Whether no key is in flight, and none will begin unless it is added. */
  get isIdle(): boolean {
    return this.queue.inFlight === 0 && (this.queue.size === 0 || this.pauseState.is("closed"));
  }

  add(item: Item, reason: string, options: EnqueueOptions | undefined): void {
    const key = this.#options.keyOf(item);
    requireString("the key of an item", key);
    if (this.#isForeign(key)) return;
    if (options === undefined) {
      this.queue.add({ key, item, reason });
      return;
    }
    const { after, priority } = read("options", options, "add", ENQUEUE_OPTIONS);
    this.queue.add({ key, item, reason }, { after, priority });
  }

  start(): void {
    while (this.#alive < this.#options.workers) {
      this.#alive++;
      void this.#work();
    }
  }

  /** Begins no further key and aborts the keys in flight. */
  abort(reason: unknown, abortGrace?: number): void {
    this.pauseState.close();
    for (const run of this.#runs) run.abort("stop", reason, abortGrace);
  }

  /** Resolves when no worker is alive: the queue is shut down and empty, or they are closed. */
  async ended(): Promise<void> {
    while (this.#alive > 0)
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve;
      });
  }

  /**
   * One worker. While keys are queued it awaits only reconciles: another promise would double the cost
   * of a key.
   */
  async #work(): Promise<void> {
    let workItem = await this.#next();
    while (workItem !== undefined) {
      // The key may have been taken just before a pause: then it is first in line. No await and no
      // limiter call may come between the last check and the run, or an abort of all runs could miss
      // it.
      while (this.pauseState.is("paused")) await this.pauseState.changed();
      const attempt = this.#failures.of(workItem.key) + 1;
      this.beforeReconcile();
      if (!this.#refuse(workItem)) {
        const run = this.#begin(workItem, attempt);
        let settlement: Settlement;
        try {
          const result = await callInOwnContext(this.#options.reconcile, run);
          settlement = { kind: "returned", result };
        } catch (error) {
          settlement = { kind: "threw", error };
        }
        const wasStuck = run.state === "stuck";
        this.#settle(run, settlement);
        if (wasStuck) return;
        this.#free();
      }
      const { turn } = this.#turns;
      if (turn !== undefined) await turn;
      workItem =
        (this.pauseState.is("open") ? this.queue.take() : undefined) ?? (await this.#next());
    }
    if (--this.#alive === 0) this.#onEmpty();
  }

  /** The next key for a worker; undefined when there will be none. */
  async #next(): Promise<WorkItem<Task<Item>> | undefined> {
    const { pauseState, queue } = this;
    while (!pauseState.is("closed")) {
      if (pauseState.is("paused")) {
        await pauseState.changed();
        continue;
      }
      try {
        return queue.take() ?? (await queue.get(pauseState.signal));
      } catch {
        // Only a pause or the end stops this wait.
      }
    }
    return undefined;
  }

  /** Whether a key may not begin: then it is given back, or dropped. */
  #refuse(workItem: WorkItem<Task<Item>>): boolean {
    if (this.pauseState.is("closed")) this.#giveBack(workItem);
    else if (this.#isForeign(workItem.key)) this.#drop(workItem);
    else return false;
    return true;
  }

  #giveBack(workItem: WorkItem<Task<Item>>): void {
    this.hasGivenBack = true;
    const task = newerOf(workItem) ?? workItem.item;
    this.queue.add(task, { after: AFTER_A_TURN, priority: workItem.priority });
    workItem.done();
    this.#onChange();
  }

  /** Whether the key is in a slot that this process does not hold, or gives up. */
  #isForeign(key: string): boolean {
    return this.slots !== undefined && this.slots.leadershipOf(key) === undefined;
  }

  /** The process that takes the slot of the key reconciles it. */
  #drop(workItem: WorkItem<Task<Item>>): void {
    this.#failures.forget(workItem.key);
    workItem.done();
    this.#onChange();
  }

  #begin(workItem: WorkItem<Task<Item>>, attempt: number): Run<Item> {
    const leadership = this.slots?.leadershipOf(workItem.key) ?? this.leadership;
    const run = new Run(workItem, attempt, leadership, this.#runOptions);
    this.#runs.push(run);
    this.#busy++;
    run.begin();
    this.#measure((metrics) => metrics.activeWorkers(1));
    return run;
  }

  /** Starts a worker to replace the one that waits for a stuck run. */
  #replace(stuck: Run<Item>): void {
    const details = { key: stuck.key, age: this.#options.clock.monotonic() - stuck.startedAt };
    this.#hooks.logRepeated(
      `key ${stuck.key}`,
      details,
      "reconcile ignored its abort signal; worker released, key blocked until it settles",
    );
    this.#free();
    void this.#work();
  }

  /** A worker is free. */
  #free(): void {
    this.#busy--;
    this.#measure((metrics) => metrics.activeWorkers(-1));
    this.#onChange();
  }

  #settle(run: Run<Item>, settlement: Settlement): void {
    const now = this.#options.clock.monotonic();
    run.settle();
    const { outcome, delay } = this.#decide(run, settlement);
    this.#runs.splice(this.#runs.indexOf(run), 1);
    this.#apply(run, outcome, delay);
    run.workItem.done();
    if ("error" in outcome) this.#report(run, outcome, delay);
    else if (outcome.kind !== "interrupt") this.#failures.endLines(run.key);
    const isLate = run.aborted === "timeout";
    this.#measure((metrics) => metrics.reconciled(outcome.label, now - run.startedAt, isLate));
    this.#turns.spend(now);
    this.#onChange();
  }

  /** The outcome, and the delay of a retry. The limiter counts only failures that may be retried. */
  #decide(run: Run<Item>, settlement: Settlement): { outcome: Outcome; delay: number } {
    const { retries, maxRetryAfter } = this.#options;
    const outcome = outcomeOf(settlement, run.aborted, run.key, maxRetryAfter);
    if (outcome.kind !== "retry") return { outcome, delay: 0 };
    const delay = this.#failures.count(run.key, outcome.delay);
    return { outcome: limitRetries(outcome, this.#failures.of(run.key), retries), delay };
  }

  #measure(fact: (metrics: ControllerMetrics) => void): void {
    const { metrics } = this.#options;
    if (metrics !== undefined) this.#hooks.call("metrics", () => fact(metrics));
  }

  #apply(run: Run<Item>, outcome: Outcome, retryDelay: number): void {
    switch (outcome.kind) {
      case "forget":
      case "drop":
      case "giveUp":
        this.#failures.forget(run.key);
        break;
      case "requeueAfter":
        this.#failures.forget(run.key);
        this.#again(run, "requeue", outcome.delay);
        break;
      case "interrupt":
        if (!this.#isForeign(run.key)) this.hasInterrupted = true;
        this.#again(run, "interrupted", 0);
        break;
      case "retry":
        // With Infinity the key waits for the next event, which needs no place in the queue.
        if (retryDelay < Number.POSITIVE_INFINITY) this.#again(run, "retry", retryDelay);
        break;
    }
  }

  #again(run: Run<Item>, reason: string, delay: number): void {
    if (this.#isForeign(run.key)) {
      this.#failures.forget(run.key);
      return;
    }
    const task = run.newer ?? { ...run.workItem.item, reason };
    const { priority } = run.workItem;
    this.queue.add(task, { after: Math.max(delay, AFTER_A_TURN), priority });
  }

  #report(run: Run<Item>, outcome: Outcome & { error: unknown }, delay: number): void {
    const { clock, onError, onGiveUp } = this.#options;
    const { key, attempt } = run;
    const { error } = outcome;
    const item = (run.newer ?? run.workItem.item).item;
    const message = messageOf(error);
    this.#lastError = { key, message, at: clock.now() };
    const details = { key, attempt, reason: run.reason, err: error };
    const isRetried = outcome.kind === "retry" && delay < Number.POSITIVE_INFINITY;
    if (isRetried)
      this.#log(
        "warn",
        message,
        { ...details, delay },
        "reconcile failed; key retried after delay",
      );
    else this.#log("error", message, details, "reconcile failed; key not retried");
    const origin: ErrorOrigin = { kind: "reconcile", key, attempt };
    this.#hooks.call("onError", () => onError(error, origin));
    if (!isRetried)
      this.#hooks.call("onGiveUp", () => onGiveUp({ key, item, attempts: attempt, error }));
  }

  /**
   * Logs a failure. One that repeats, of one key, is at debug level for a minute, and so are those of all keys beyond
   * the first 10,000, but for one.
   */
  #log(
    level: "warn" | "error",
    message: string,
    details: { readonly key: string; readonly delay?: number },
    text: string,
  ): void {
    const more = this.#failures.detailsOf(details.key, `${level} ${message}`);
    const logged =
      more?.others === undefined ? text : `${text}; too many keys fail for a line each`;
    this.#hooks.log(more === undefined ? "debug" : level, { ...details, ...more }, logged);
  }
}

function keyOfTask({ key }: { readonly key: string }): string {
  return key;
}
