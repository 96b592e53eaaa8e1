import { requireString } from "@holdfast/clock/internal";
import type { ControllerMetrics } from "../controller-metrics.ts";
import { messageOf } from "../message-of.ts";
import { newerOf, type WorkItem } from "../queue/hand-out.ts";
import { WorkQueue } from "../queue/work-queue.ts";
import type { KeyedWorkQueueOptions, WorkQueueArguments } from "../queue/work-queue-options.ts";
import { FailureCounts } from "../reconcile/failure-counts.ts";
import { isFailure, type Outcome, outcomeOf, type Settlement } from "../reconcile/outcome.ts";
import type { EnqueueOptions } from "../source/source.ts";
import type { ErrorOrigin, ResolvedControllerOptions } from "./controller-options.ts";
import type { ReconcileErrorStatus } from "./controller-status.ts";
import { Gate } from "./gate.ts";
import type { Hooks } from "./hooks.ts";
import { Run, type RunOptions } from "./run.ts";
import type { Task } from "./task.ts";

/** As soon as possible, but after a turn of the event loop: what asks for it again and again stays stoppable. */
const AFTER_A_TURN: number = Number.MIN_VALUE;

/** When a limiter fails to say when, in milliseconds. */
const DELAY_WITHOUT_LIMITER = 1_000;

/** The workers of a controller and what they work on. */
export class Crew<Item> {
  readonly gate: Gate = new Gate();
  readonly queue: WorkQueue<Task<Item>>;
  readonly #options: ResolvedControllerOptions<Item>;
  readonly #hooks: Hooks;
  /** Something has ended; see {@link Crew.isIdle}. */
  readonly #onChange: () => void;
  readonly #runs = new Map<string, Run<Item>>();
  readonly #failures = new FailureCounts();
  readonly #runOptions: RunOptions<Item>;
  /** How many there are, without those that wait for stuck runs. */
  #workers = 0;
  /** The last one has gone. */
  #onEmpty: () => void = () => {};
  #busy = 0;
  #lastError: ReconcileErrorStatus | undefined = undefined;

  constructor(options: ResolvedControllerOptions<Item>, hooks: Hooks, onChange: () => void) {
    const { name, clock, limiter, aging, queueMetrics, timeout, abortGrace } = options;
    this.#options = options;
    this.#hooks = hooks;
    this.#onChange = onChange;
    this.#runOptions = { clock, timeout, abortGrace, onStuck: (run) => this.#replace(run) };
    const queue: KeyedWorkQueueOptions<Task<Item>> = {
      ...{ name, clock, limiter, aging, metrics: queueMetrics },
      keyOf: keyOfTask,
    };
    // The types cannot tell that a task is no string while they do not know its item.
    const args = [queue] as unknown as WorkQueueArguments<Task<Item>>;
    this.queue = new WorkQueue<Task<Item>>(...args);
  }

  get busy(): number {
    return this.#busy;
  }

  get lastError(): ReconcileErrorStatus | undefined {
    return this.#lastError;
  }

  /** What has not settled, the oldest first. */
  get runs(): Iterable<Run<Item>> {
    return this.#runs.values();
  }

  /** Whether nothing is in flight, and nothing will be of itself. */
  get isIdle(): boolean {
    return this.queue.inFlight === 0 && (this.queue.size === 0 || this.gate.is("closed"));
  }

  add(item: Item, reason: string, options: EnqueueOptions | undefined): void {
    const key = this.#options.keyOf(item);
    requireString("the key of an item", key);
    this.queue.add({ key, item, reason }, options);
  }

  start(): void {
    while (this.#workers < this.#options.workers) {
      this.#workers++;
      void this.#work();
    }
  }

  /** Begins nothing more, and tells what runs to stop. */
  abort(reason: unknown): void {
    this.gate.close();
    for (const run of this.#runs.values()) run.abort("stop", reason);
  }

  /** Resolves when no worker is left: the queue is shut down and empty, or the gate is closed. */
  async ended(): Promise<void> {
    while (this.#workers > 0)
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve;
      });
  }

  /**
   * A worker. For as long as there are keys it waits for nothing but reconciles: a promise more would
   * cost as much as all that is done for a key beside its own.
   */
  async #work(): Promise<void> {
    let handOut = await this.#next();
    while (handOut !== undefined) {
      // It may have been handed out in the moment of a pause: then it is first in line. Nothing may be
      // waited for between this look and the run, or an abort of all runs could miss it.
      while (this.gate.is("paused")) await this.gate.changed();
      if (this.gate.is("closed")) {
        this.#giveBack(handOut);
      } else {
        const run = this.#begin(handOut);
        let settlement: Settlement;
        try {
          settlement = { kind: "returned", result: await this.#options.reconcile(run) };
        } catch (error) {
          settlement = { kind: "threw", error };
        }
        const wasStuck = run.state === "stuck";
        this.#settle(run, settlement);
        if (wasStuck) return;
        this.#free();
      }
      handOut = (this.gate.is("open") ? this.queue.take() : undefined) ?? (await this.#next());
    }
    if (--this.#workers === 0) this.#onEmpty();
  }

  /** The next key for a worker; undefined when there is none any more. */
  async #next(): Promise<WorkItem<Task<Item>> | undefined> {
    const { gate, queue } = this;
    while (!gate.is("closed")) {
      if (gate.is("paused")) {
        await gate.changed();
        continue;
      }
      try {
        return queue.take() ?? (await queue.get(gate.signal));
      } catch {
        // Only the gate ends this wait.
      }
    }
    return undefined;
  }

  #giveBack(handOut: WorkItem<Task<Item>>): void {
    const task = newerOf(handOut) ?? handOut.item;
    this.queue.add(task, { after: AFTER_A_TURN, priority: handOut.priority });
    handOut.done();
    this.#onChange();
  }

  #begin(handOut: WorkItem<Task<Item>>): Run<Item> {
    const run = new Run(handOut, this.#failures.of(handOut.key) + 1, this.#runOptions);
    this.#runs.set(run.key, run);
    this.#busy++;
    this.#measure((metrics) => metrics.activeWorkers(1));
    run.begin();
    return run;
  }

  /** Another worker takes the place of the one that waits for a stuck run. */
  #replace(stuck: Run<Item>): void {
    const details = { key: stuck.key, age: this.#options.clock.monotonic() - stuck.startedAt };
    this.#hooks.log("error", details, "a reconcile was told to stop and does not; its key waits");
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
    const { clock, maxRetries } = this.#options;
    const now = clock.monotonic();
    run.settle();
    const failures = isFailure(settlement) ? this.#failures.fail(run.key, now) : 0;
    const outcome = outcomeOf(settlement, { failures, maxRetries, aborted: run.aborted });
    this.#runs.delete(run.key);
    const delay = this.#apply(run, outcome, now);
    run.handOut.done();
    // Its worker may have left, and the others gone home.
    if (this.queue.isShutDown && this.queue.size > 0) this.start();
    if ("error" in outcome) this.#report(run, outcome, delay);
    const isLate = run.aborted === "timeout";
    this.#measure((metrics) => metrics.reconciled(outcome.label, now - run.startedAt, isLate));
    this.#onChange();
  }

  #measure(tell: (metrics: ControllerMetrics) => void): void {
    const { metrics } = this.#options;
    if (metrics !== undefined) this.#hooks.call("metrics", () => tell(metrics));
  }

  /** @returns how long the key waits, if it does */
  #apply(run: Run<Item>, outcome: Outcome, now: number): number | undefined {
    switch (outcome.kind) {
      case "forget":
      case "drop":
      case "giveUp":
        this.#forget(run.key);
        return undefined;
      case "requeueAfter":
        this.#forget(run.key);
        return this.#again(run, "requeue", outcome.delay);
      case "interrupt":
        return this.#again(run, "interrupted", 0);
      case "retry": {
        const delay = outcome.delay ?? this.#delayOf(run.key);
        this.#failures.backOff(run.key, now + delay);
        return this.#again(run, "retry", delay);
      }
    }
  }

  #again(run: Run<Item>, reason: string, delay: number): number {
    const task = run.newer ?? { ...run.handOut.item, reason };
    const { priority } = run.handOut;
    this.queue.add(task, { after: Math.max(delay, AFTER_A_TURN), priority });
    return delay;
  }

  #forget(key: string): void {
    this.#failures.forget(key);
    this.#hooks.call("limiter", () => this.#options.limiter.forget(key));
  }

  #delayOf(key: string): number {
    let delay: unknown;
    this.#hooks.call("limiter", () => {
      delay = this.#options.limiter.when(key);
    });
    return typeof delay === "number" && delay >= 0 ? delay : DELAY_WITHOUT_LIMITER;
  }

  #report(run: Run<Item>, outcome: Outcome & { error: unknown }, delay: number | undefined): void {
    const { clock, onError, onGiveUp } = this.#options;
    const { key, attempt } = run;
    const { error } = outcome;
    const item = (run.newer ?? run.handOut.item).item;
    this.#lastError = { key, message: messageOf(error), at: clock.now() };
    const details = { key, attempt, reason: run.reason, err: error };
    if (outcome.kind === "retry")
      this.#hooks.log("warn", { ...details, delay }, "reconcile failed");
    else this.#hooks.log("error", details, "reconcile failed, and is not retried");
    const origin: ErrorOrigin = { kind: "reconcile", key, attempt };
    this.#hooks.call("onError", () => onError(error, origin));
    if (outcome.kind === "giveUp")
      this.#hooks.call("onGiveUp", () => onGiveUp({ key, item, attempts: attempt, error }));
  }
}

function keyOfTask({ key }: { readonly key: string }): string {
  return key;
}
