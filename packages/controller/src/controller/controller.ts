import { LinkedController, onAbort } from "@holdfast/clock";
import { Hooks, holdOpen, requireSignal } from "@holdfast/kit";
import { endsWithin } from "@holdfast/wait/limit";
import { LeadershipLostError } from "../election/leadership-lost-error.ts";
import type { KeyShards, SlotLeadership } from "../key-shards.ts";
import type { Leadership } from "../leadership.ts";
import type { DrainReport } from "../queue/work-queue-options.ts";
import { type ResolvedRun, type RunOptions, resolveRun } from "../run-options.ts";
import type { EnqueueOptions, Source } from "../source/source.ts";
import {
  type ControllerArguments,
  type ControllerOptions,
  type ErrorOrigin,
  type ResolvedControllerOptions,
  requireSource,
  resolveController,
} from "./controller-options.ts";
import type { ControllerState, ControllerStatus, InFlightStatus } from "./controller-status.ts";
import { leadSlot } from "./lead-slot.ts";
import { Sources } from "./sources.ts";
import { Terms } from "./terms.ts";
import { Workers } from "./workers.ts";

/**
 * Reconciles keys: sources report changes, workers process each changed key.
 *
 * Keys are de-duplicated, and each is processed by one worker at a time. A failed key is retried after
 * its backoff. An error in a reconciler, a source or a hook ends neither the controller nor the process.
 *
 * | Event | Effect |
 * | --- | --- |
 * | a reconcile takes longer than `timeout` | its signal aborts |
 * | a reconcile ignores its signal for `abortGrace` | logged and reported by `status()`; its worker takes another key, its own key stays blocked until it settles |
 * | a source has a `ready` that has not resolved | no source and no worker starts; added keys wait |
 * | `pause()` is called | no key begins; keys in flight continue |
 * | `signal` of `run` aborts | sources stop; queued and in-flight keys are finished |
 * | the same, under a leadership | sources stop; keys in flight are finished, no key begins: the next leader reconciles the queued ones |
 * | `grace` ends before they are finished | no key begins; keys in flight abort with `signal.reason` |
 * | the leadership ends: `lost` aborts, or `isHeld` is false before a reconcile, at any time | the same at once, with `lost.reason`, without a grace |
 * | `signal` or `lost` was aborted before `run` | no key begins |
 * | a paused controller stops, or a stopping controller is paused | keys in flight are finished; no key begins |
 *
 * A controller runs once. Create a new one for another run.
 *
 * @remarks
 * Source: `Controller` of sigs.k8s.io/controller-runtime.
 *
 * @typeParam Item - the type of items: strings, or anything with a `keyOf`
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { Controller } from "@holdfast/controller";
 *
 * const clock = new FakeClock();
 * const stop = new AbortController();
 * let failures = 2;
 * const controller = new Controller({
 *   name: "orders",
 *   reconcile({ key, attempt, reason }) {
 *     console.log(key, attempt, reason);
 *     if (failures-- > 0) throw new Error("unreachable");
 *     return { requeueAfter: 60_000 };
 *   },
 *   clock,
 * });
 *
 * const running = controller.run(stop.signal);
 * controller.add("7");
 * await clock.step(1_000);
 * // => 7 1 add
 * // => 7 2 retry
 * // => 7 3 retry
 * console.log(controller.status().lastError?.message); // => unreachable
 * stop.abort();
 * await running;
 * console.log(controller.status().drain?.delayed[0]?.after); // => 59015
 * ```
 */
export class Controller<Item = string> implements AsyncDisposable {
  /** Name of the controller, so that a `Manager` accepts it as a runnable. */
  readonly name: string;

  /** Time that a stop may take, in milliseconds: `grace` plus `abortGrace`. A `Manager` waits for it, if it has the time. */
  readonly stopTimeout: number;

  readonly #options: ResolvedControllerOptions<Item>;
  readonly #hooks: Hooks;
  readonly #terms: Terms;
  readonly #workers: Workers<Item>;
  readonly #sources: Sources<Item>;
  readonly #disposal = new AbortController();
  #state: Exclude<ControllerState, "paused"> = "idle";
  #ended: Promise<void> = Promise.resolve();
  #isLost = false;
  #drain: DrainReport<Item> | undefined = undefined;

  /**
   * @param options - see {@link ControllerOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: ControllerArguments<Item>) {
    const resolved = resolveController<Item>(options as ControllerOptions<Item>);
    const { name, clock, random, sources, logger, metrics, workers } = resolved;
    this.name = name;
    this.stopTimeout = resolved.grace + resolved.abortGrace;
    this.#options = resolved;
    this.#hooks = new Hooks(logger, clock, "controller hook failed", { controller: name });
    this.#terms = new Terms(this.#hooks);
    this.#workers = new Workers(resolved, this.#hooks, this.#terms);
    this.#sources = new Sources({
      clock,
      random: random === undefined ? undefined : () => this.#hooks.draw(random),
      workers: this.#workers,
      onError: (error, source, message) => this.#reportSource(error, source, message),
      onBegin: () => this.#workers.start(),
      onEnd: () => this.#workers.changes.resolveAll(),
    });
    for (const source of sources) this.#sources.add(source, undefined);
    this.#hooks.call("metrics", () => metrics?.maxWorkers(workers));
  }

  /**
   * Adds an item to the queue, at once or after a delay. Items added before `run` wait for it; items
   * added after the end are ignored.
   *
   * @param item - the item to reconcile
   * @param options - see {@link EnqueueOptions}; the default reason is `"add"`
   * @throws TypeError if the item's key is not a string, RangeError or TypeError for a bad option
   */
  add(item: Item, options?: EnqueueOptions): void {
    if (this.#state !== "stopped") this.#workers.add(item, options?.reason ?? "add", options);
  }

  /**
   * Adds a source, also while the controller runs: for a kind that turns up later, or a tenant. It is as those of the
   * option `sources`: its errors are reported, it is restarted, it tells the items of each new slot, and `status()` has it.
   *
   * A controller that has not begun waits until this source is ready too. One that runs goes on meanwhile: the source
   * starts when it is ready, so a key that it reports is reconciled with its data. Ignored once the controller stops.
   *
   * @param source - the source
   * @param signal - ends the source, at once, and removes it. Queued keys stay. Default: it ends with the controller
   * @throws TypeError or RangeError for a bad argument
   *
   * @example
   * ```ts
   * import { FakeClock } from "@holdfast/clock/testing";
   * import { Controller, resync } from "@holdfast/controller";
   *
   * const clock = new FakeClock();
   * const stop = new AbortController();
   * const controller = new Controller({
   *   name: "mail",
   *   reconcile: ({ key, reason }) => console.log(key, reason),
   *   clock,
   * });
   * const running = controller.run(stop.signal);
   * const tenant = new AbortController();
   * controller.addSource(resync({ list: () => ["ann"], interval: 60_000 }), tenant.signal);
   * await clock.step(0); // => ann resync
   * tenant.abort();
   * await clock.step(60_000);
   * stop.abort();
   * await running;
   * ```
   */
  addSource(source: Source<Item>, signal?: AbortSignal): void {
    requireSource("source", source);
    if (signal !== undefined) requireSignal("signal", signal);
    const isOver = this.#state === "stopping" || this.#state === "stopped";
    if (!isOver && signal?.aborted !== true) this.#sources.add(source, signal);
  }

  /**
   * Runs the controller until `signal` aborts, then drains it.
   *
   * @param signal - stops the controller; see the table of {@link Controller}. Or the leadership of a term, whose
   * `signal` does, and which counts as `options.leadership` too
   * @param options - see {@link RunOptions}
   * @returns a promise that resolves after the drain. No timer and no listener of the controller
   * remain, except for a reconcile or a source that ignores its signal, which is logged. A second call,
   * or a call after disposal, rejects with an Error; a bad argument with a TypeError
   */
  async run(signal: AbortSignal | Leadership, options: RunOptions = {}): Promise<void> {
    const run = resolveRun(signal, options);
    if (this.#state !== "idle")
      throw new Error(`controller "${this.#options.name}" has already run; create a new one`);
    this.#state = "running";
    this.#ended = this.#live(run);
    const hold = run.ref ? holdOpen(this.#options.clock) : undefined;
    try {
      await this.#ended;
    } finally {
      hold?.[Symbol.dispose]();
    }
  }

  /**
   * Runs a batch: stops the controller like an abort once nothing is left to do. That is when each source has told all
   * items that exist, by `listed` or by its end, or before its `start` has returned, and no key is queued, waiting for a
   * retry, requeued or in flight. A key whose reconcile always returns `requeueAfter` is never at rest.
   *
   * @param signal - stops the controller before that, as in `run`
   * @param options - see {@link RunOptions}
   * @returns a promise that resolves after the drain, and rejects as that of `run` does. What was left by
   * an abort is in `status().drain`
   *
   * @example
   * ```ts
   * import { FakeClock } from "@holdfast/clock/testing";
   * import { Controller } from "@holdfast/controller";
   *
   * const clock = new FakeClock();
   * const controller = new Controller({
   *   name: "thumbnails",
   *   reconcile: ({ key }) => console.log(key),
   *   clock,
   * });
   * for (const key of ["a", "b"]) controller.add(key);
   * await clock.run(() => controller.runUntilIdle(new AbortController().signal));
   * // => a
   * // => b
   * console.log(controller.status().state); // => stopped
   * ```
   */
  async runUntilIdle(signal: AbortSignal, options: RunOptions = {}): Promise<void> {
    requireSignal("signal", signal);
    using stop = new LinkedController(signal);
    const running = this.run(stop.signal, options);
    await Promise.race([running, this.#rests(stop.signal).catch(() => {})]);
    stop.abort();
    await running;
  }

  /**
   * Begins no key until {@link Controller.resume}. Keys in flight continue; added keys wait. A paused
   * controller that is stopping begins no further key: its report names the queued keys.
   */
  pause(): void {
    const { pauseState, changes } = this.#workers;
    if (this.#state !== "stopping") {
      pauseState.pause();
      return;
    }
    pauseState.close();
    changes.resolveAll();
  }

  /** Ends a {@link Controller.pause}. */
  resume(): void {
    this.#workers.pauseState.open();
  }

  /**
   * Waits until no key is queued, waiting for a retry, requeued or in flight: the end of a batch. The controller goes
   * on; keys may be added the moment after. A key whose reconcile always returns `requeueAfter` is never at rest.
   *
   * Resolves too when the controller has stopped: `status().drain` names what was left.
   *
   * @param signal - ends the wait: the promise rejects at once with `signal.reason`
   * @returns a promise that resolves at once if nothing is to do. Before `run` it waits if keys were added. A bad
   * argument rejects with a TypeError
   *
   * @example
   * ```ts
   * import { FakeClock } from "@holdfast/clock/testing";
   * import { Controller } from "@holdfast/controller";
   *
   * const clock = new FakeClock();
   * const failures: string[] = [];
   * const controller = new Controller({
   *   name: "import",
   *   reconcile({ key }) {
   *     if (key === "bad") throw new Error("not a number");
   *   },
   *   retries: 2,
   *   onGiveUp: ({ key, attempts }) => failures.push(`${key} after ${attempts}`),
   *   clock,
   * });
   * for (const key of ["a", "bad", "c"]) controller.add(key);
   *
   * const stop = new AbortController();
   * const running = controller.run(stop.signal);
   * await clock.run(() => controller.idle());
   * stop.abort();
   * await running;
   * console.log(failures); // => [ 'bad after 3' ]
   * ```
   */
  async idle(signal?: AbortSignal): Promise<void> {
    await this.#workers.queue.idle(signal);
  }

  /** Status as plain data: `JSON.stringify` it for a health endpoint. */
  status(): ControllerStatus<Item> {
    const { queue, pauseState, busy, reports } = this.#workers;
    const isPaused = this.#state === "running" && pauseState.is("paused");
    return {
      name: this.#options.name,
      state: isPaused ? "paused" : this.#state,
      workers: { total: this.#options.workers, busy },
      queue: { size: queue.size, delayed: queue.delayed, inFlight: queue.inFlight },
      inFlight: this.#statusInFlight(),
      lastError: reports.last,
      sources: this.#sources.status(),
      drain: this.#drain,
    };
  }

  /** Stops the controller like an abort, and waits for the end of `run`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal.abort();
    if (this.#state === "idle") {
      this.#state = "stopping";
      this.#ended = this.#finish();
    }
    await this.#ended;
  }

  async #live({ signal, leadership, shards, stopWithin }: ResolvedRun): Promise<void> {
    this.#hooks.log("info", {}, "controller started");
    const { clock } = this.#options;
    using stop = new LinkedController(signal, this.#disposal.signal);
    // Under an election the next leader reconciles every key, so a backlog would only delay it.
    const hasSuccessor = leadership !== undefined || shards !== undefined;
    const stopped = this.#stopsWith(stop.signal, hasSuccessor);
    const lose = (reason: unknown): void => this.#lose(stop, reason);
    const onExpired = (): void => lose(new LeadershipLostError("expired"));
    this.#terms.begin({ leadership, shards, onExpired });
    const losses = leadership && onAbort(leadership.lost, lose);
    const slots = shards?.join((term) => this.#leadSlot(term, shards));
    if (stop.signal.aborted) this.#workers.pauseState.close();
    this.#sources.start(stop.signal, shards !== undefined);
    await stopped;
    const { grace, abortGrace } = this.#timesWithin(stopWithin);
    const limits = { clock, signal: undefined, label: "grace" };
    await endsWithin((expired) => this.#drained(expired), grace, limits);
    this.#workers.abort(stop.signal.reason, abortGrace);
    await Promise.all([
      this.#workers.ended(),
      endsWithin(() => this.#sources.ended(), abortGrace, limits),
    ]);
    losses?.[Symbol.dispose]();
    slots?.[Symbol.dispose]();
    await this.#finish(hasSuccessor && !this.#isLost);
  }

  /** Resolves when nothing is left to do. */
  async #rests(signal: AbortSignal): Promise<void> {
    do {
      await this.#sources.told(signal);
      await this.idle(signal);
    } while (!this.#sources.haveTold);
  }

  /** Resolves when no key is queued or in flight and no source runs, or when the leadership is lost. */
  async #drained(expired: AbortSignal): Promise<void> {
    const { changes } = this.#workers;
    while (!this.#isLost && !(this.#workers.isIdle && this.#sources.areOver))
      await changes.wait(expired);
  }

  /** The times of a stop, shortened to fit: at least a quarter is left to keys whose signals have aborted. */
  #timesWithin(stopWithin: ResolvedRun["stopWithin"]): {
    readonly grace: number;
    readonly abortGrace: number;
  } {
    const { grace, abortGrace } = this.#options;
    const within = stopWithin((error) => this.#hooks.failed("stopWithin", error));
    if (within >= this.stopTimeout) return { grace, abortGrace };
    const last = Math.min(abortGrace, Math.max(within / 4, within - grace));
    return { grace: Math.min(grace, within - last), abortGrace: last };
  }

  #leadSlot(term: SlotLeadership, shards: KeyShards): Promise<void> {
    const [terms, workers, { clock, grace, keyOf }] = [this.#terms, this.#workers, this.#options];
    const isOfSlot = (item: Item): boolean => shards.slotOf(keyOf(item)) === term.slot;
    const addKeys = (): void => this.#sources.replay(isOfSlot);
    return leadSlot(term, { terms, workers, addKeys, clock, grace });
  }

  /** Resolves when `stop` aborts. The state changes at once: a key added after the abort is ignored. */
  #stopsWith(stop: AbortSignal, leavesQueue: boolean): Promise<void> {
    return new Promise((resolve) => {
      onAbort(stop, () => {
        this.#state = "stopping";
        this.#workers.queue.shutDown();
        const { pauseState } = this.#workers;
        if (leavesQueue || !this.#sources.hasBegun || pauseState.is("paused")) pauseState.close();
        resolve();
      });
    });
  }

  /** Stops without a grace, or ends the grace of a stop that has begun. */
  #lose(stop: AbortController, reason: unknown): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#workers.pauseState.close();
    stop.abort(reason);
    this.#workers.abort(reason);
    this.#workers.changes.resolveAll();
  }

  async #finish(hasSuccessor = false): Promise<void> {
    const { queue, hasInterrupted, hasGivenBack } = this.#workers;
    const { running, queued, delayed } = await queue.drain({ timeout: 0 });
    const isUndisturbed = !hasInterrupted && running.length === 0;
    const finished = isUndisturbed && !hasGivenBack && queued.length === 0;
    this.#state = "stopped";
    this.#sources.close();
    this.#drain = {
      finished,
      running,
      queued,
      delayed: delayed.map(({ key, item, after }) => ({ key, item: item.item, after })),
    };
    const sources = this.#sources
      .status()
      .filter(({ state }) => state !== "ended" && state !== "idle")
      .map(({ name }) => name);
    const details = { running, queued: queued.length, delayed: delayed.length, sources };
    const isInOrder = sources.length === 0 && (finished || (hasSuccessor && isUndisturbed));
    if (isInOrder) this.#hooks.log("info", details, "controller stopped");
    else this.#hooks.log("error", details, "controller stopped with unfinished work");
  }

  #statusInFlight(): InFlightStatus[] {
    const now = this.#options.clock.monotonic();
    return Array.from(this.#workers.runs, ({ key, startedAt, attempt, reason, state }) => ({
      key,
      age: now - startedAt,
      attempt,
      reason,
      // A settled run is not among these.
      state: state as InFlightStatus["state"],
    }));
  }

  #reportSource(error: unknown, name: string, message: string): void {
    const { onError } = this.#options;
    const origin: ErrorOrigin = { kind: "source", name };
    this.#hooks.logRepeated(`source ${name}`, { source: name, err: error }, message);
    this.#hooks.call("onError", () => onError(error, origin));
  }
}
