import {
  anything,
  callInOwnContext,
  type Hooks,
  type Kinds,
  read,
  requireString,
} from "@holdfast/kit";
import { CONTROLLER_METRICS, type ControllerMetrics } from "../controller-metrics.ts";
import type { Leadership } from "../leadership.ts";
import { Backlog, type IssuedWorkItem } from "../queue/backlog.ts";
import { AFTER_A_TURN } from "../queue/delayed-items.ts";
import { ADD_OPTIONS, QUEUE_METRICS } from "../queue/work-queue-options.ts";
import { outcomeOf, type Settlement } from "../reconcile/outcome.ts";
import type { EnqueueOptions } from "../source/source.ts";
import { TurnBudget } from "../turn-budget.ts";
import { Waiters } from "../waiters.ts";
import type { ResolvedControllerOptions } from "./controller-options.ts";
import { FailureReports } from "./failure-reports.ts";
import { KeyFailures } from "./key-failures.ts";
import { PauseState } from "./pause-state.ts";
import { Run, type RunLimits } from "./run.ts";
import type { Task } from "./task.ts";
import type { Terms } from "./terms.ts";

export const ENQUEUE_OPTIONS: Kinds<EnqueueOptions> = { ...ADD_OPTIONS, reason: anything };

/** The workers of a controller, its queue, and the keys in flight. */
export class Workers<Item> {
  readonly pauseState: PauseState = new PauseState();
  readonly queue: Backlog<Task<Item>>;
  /** Those who wait for the end of keys or workers. Woken whenever one may have ended, they look again. */
  readonly changes: Waiters<void> = new Waiters<void>();
  /** Whether the stop interrupted a reconcile. */
  hasInterrupted = false;
  /** Whether a key was taken and has not begun. */
  hasGivenBack = false;
  /** Number of workers that reconcile, without those that wait for stuck runs. */
  busy = 0;
  /**
   * The runs that have not settled, the oldest first. In a map, settled runs survive most collections, which costs a third
   * of a key.
   */
  readonly runs: Run<Item>[] = [];
  readonly reports: FailureReports<Item>;
  readonly #options: ResolvedControllerOptions<Item>;
  readonly #hooks: Hooks;
  readonly #metrics: ControllerMetrics | undefined;
  readonly #terms: Terms;
  readonly #runLimits: RunLimits<Item>;
  readonly #failures: KeyFailures;
  readonly #turns: TurnBudget;
  /** Number of live workers, without those that wait for stuck runs. */
  #alive = 0;

  constructor(options: ResolvedControllerOptions<Item>, hooks: Hooks, terms: Terms) {
    const { name, clock, aging, fairBy, timeout, abortGrace } = options;
    this.#options = options;
    this.#hooks = hooks;
    this.#metrics = hooks.guarded("metrics", options.metrics, CONTROLLER_METRICS);
    this.#terms = terms;
    this.#runLimits = { clock, timeout, abortGrace, onStuck: (run) => this.#replace(run) };
    this.#failures = new KeyFailures(options, hooks);
    this.reports = new FailureReports(options, hooks);
    this.#turns = new TurnBudget(clock);
    const metrics = hooks.guarded("queueMetrics", options.queueMetrics, QUEUE_METRICS);
    this.queue = new Backlog<Task<Item>>({ name, clock, aging, fairBy, metrics });
  }

  /** Whether no key is in flight, and none will begin unless it is added. */
  get isIdle(): boolean {
    return this.queue.inFlight === 0 && (this.queue.size === 0 || this.pauseState.is("closed"));
  }

  add(item: Item, reason: string, options?: EnqueueOptions): void {
    const key = this.#options.keyOf(item);
    requireString("the key of an item", key);
    if (this.#terms.isForeign(key)) return;
    const task = { item, reason };
    if (options === undefined) this.queue.add(key, task, 0, 0);
    else {
      const { after = 0, priority = 0 } = read("options", options, "add", ENQUEUE_OPTIONS);
      this.queue.add(key, task, after, priority);
    }
  }

  start(): void {
    while (this.#alive < this.#options.workers) {
      this.#alive++;
      void this.#process();
    }
  }

  /** Begins no further key and aborts the keys in flight. */
  abort(reason: unknown, abortGrace?: number): void {
    this.pauseState.close();
    for (const run of this.runs) run.abort("stop", reason, abortGrace);
  }

  /** Aborts the keys in flight under a term. */
  abortUnder(term: Leadership, reason: unknown): void {
    for (const run of this.runs) if (run.leadership === term) run.abort("stop", reason);
  }

  /** Resolves when no key is in flight under a term, but for stuck ones. */
  async finished(term: Leadership, signal?: AbortSignal): Promise<void> {
    const isInFlight = ({ leadership, state }: Run<Item>): boolean =>
      leadership === term && state !== "stuck";
    while (this.runs.some(isInFlight)) await this.changes.wait(signal);
  }

  /** Resolves when no worker is alive: the queue is shut down and empty, or they are closed. */
  async ended(): Promise<void> {
    while (this.#alive > 0) await this.changes.wait(undefined);
  }

  /**
   * Processes one key after another, as one worker. While keys are queued it awaits only reconciles: another promise
   * would double the cost of a key.
   *
   * | A key | Then |
   * | --- | --- |
   * | was taken, and the workers pause | it begins after the pause, first in line |
   * | was taken, and no key may begin any more | it is given back, for the report of the stop |
   * | is of another process | it is dropped: that process reconciles it |
   * | has settled | its outcome forgets it, delays it or gives it up: see `outcomeOf`, a table |
   * | was stuck | another worker has taken the place of this one, which ends |
   */
  async #process(): Promise<void> {
    const { pauseState, queue } = this;
    let workItem = await this.#next();
    while (workItem !== undefined) {
      while (pauseState.is("paused")) await pauseState.changed();
      const run = this.#begin(workItem);
      if (run !== undefined) {
        let settlement: Settlement;
        try {
          const result = await callInOwnContext(this.#options.reconcile, run);
          settlement = { kind: "returned", result };
        } catch (error) {
          settlement = { kind: "threw", error };
        }
        const wasStuck = run.state === "stuck";
        this.#settle(run, workItem, settlement);
        if (wasStuck) return;
        this.#free();
      }
      const { turn } = this.#turns;
      if (turn !== undefined) await turn;
      workItem = (pauseState.is("open") ? queue.take() : undefined) ?? (await this.#next());
    }
    this.#alive--;
    this.changes.resolveAll();
  }

  /**
   * A run of the key, unless the key may not begin. No await and no call of the limiter may come between the last check
   * and the run, or an abort of all runs could miss it.
   */
  #begin(workItem: IssuedWorkItem<Task<Item>>): Run<Item> | undefined {
    const { key, item, priority } = workItem;
    const attempt = this.#failures.of(key) + 1;
    const leadership = this.#terms.of(key); // may find the lease expired, which closes the workers
    if (this.pauseState.is("closed")) {
      this.hasGivenBack = true;
      this.queue.add(key, workItem.record.item ?? item, AFTER_A_TURN, priority);
    } else if (leadership === "foreign") {
      this.#failures.forget(key);
    } else {
      const run = new Run(workItem, attempt, leadership, this.#runLimits);
      this.runs.push(run);
      this.busy++;
      this.#metrics?.activeWorkers(1);
      return run;
    }
    workItem.done();
    this.changes.resolveAll();
    return undefined;
  }

  #settle(run: Run<Item>, workItem: IssuedWorkItem<Task<Item>>, settlement: Settlement): void {
    const { key, aborted } = run;
    const now = this.#options.clock.monotonic();
    run.settle();
    const settled = outcomeOf(settlement, aborted, key, this.#options.maxRetryAfter);
    const outcome = settled.kind === "retry" ? this.#failures.counted(key, settled) : settled;
    const place = this.runs.indexOf(run);
    // Most often it is the oldest. A splice makes an array of what it removes.
    if (place === 0) this.runs.shift();
    else this.runs.splice(place, 1);
    const { item } = workItem.record.item ?? workItem.item;
    switch (outcome.kind) {
      case "forget":
      case "drop":
      case "giveUp":
        this.#failures.forget(key);
        break;
      case "requeueAfter":
        this.#failures.forget(key);
        this.#again(workItem, "requeue", outcome.delay);
        break;
      case "interrupt":
        if (!this.#terms.isForeign(key)) this.hasInterrupted = true;
        this.#again(workItem, "interrupted", 0);
        break;
      case "retry":
        // With Infinity the key waits for the next event, which needs no place in the queue.
        if (outcome.delay < Number.POSITIVE_INFINITY) this.#again(workItem, "retry", outcome.delay);
        break;
    }
    workItem.done();
    if ("error" in outcome) this.reports.failed(run, outcome, item);
    this.#metrics?.reconciled(outcome.label, now - run.startedAt, aborted === "timeout");
    this.#turns.spend(now);
    this.changes.resolveAll();
  }

  #again(workItem: IssuedWorkItem<Task<Item>>, reason: string, delay: number): void {
    const { key, item, priority, record } = workItem;
    if (this.#terms.isForeign(key)) this.#failures.forget(key);
    else {
      const task = record.item ?? { ...item, reason };
      this.queue.add(key, task, Math.max(delay, AFTER_A_TURN), priority);
    }
  }

  /** The next key for a worker; undefined when there will be none. */
  async #next(): Promise<IssuedWorkItem<Task<Item>> | undefined> {
    const { pauseState, queue } = this;
    while (!pauseState.is("closed")) {
      if (pauseState.is("paused")) {
        await pauseState.changed();
        continue;
      }
      try {
        return await queue.next(pauseState.signal);
      } catch {
        // Only a pause or the end stops this wait.
      }
    }
    return undefined;
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
    this.changes.resolveAll();
    void this.#process();
  }

  /** A worker is free. */
  #free(): void {
    this.busy--;
    this.#metrics?.activeWorkers(-1);
  }
}
