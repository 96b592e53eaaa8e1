import { onAbort } from "@holdfast/clock";
import { requireSignal } from "@holdfast/clock/internal";
import { Drains } from "../queue/drains.ts";
import type { EnqueueOptions } from "../source/source.ts";
import {
  type ControllerArguments,
  type ControllerOptions,
  type ErrorOrigin,
  type ResolvedControllerOptions,
  resolveController,
} from "./controller-options.ts";
import type {
  ControllerDrain,
  ControllerState,
  ControllerStatus,
  InFlightStatus,
} from "./controller-status.ts";
import { Crew } from "./crew.ts";
import { Feeder } from "./feeder.ts";
import { Hooks } from "./hooks.ts";

/**
 * Keeps things as they should be: sources say what has happened, workers look at it.
 *
 * Keys are de-duplicated, and never worked on by two at once; those that fail come back later. What a
 * reconciler, a source or a hook throws ends neither the controller nor the process.
 *
 * | When | Then |
 * | --- | --- |
 * | a reconcile takes longer than `timeout` | its signal aborts |
 * | it goes on for `abortGrace` after that | it is logged and named in the status; its worker takes another key, its own key waits |
 * | `pause` is called | no reconcile begins; what runs goes on |
 * | the signal of `run` aborts | the sources stop; what is queued and in flight is finished |
 * | it is not after `grace` | no reconcile begins, and the signals of those in flight abort |
 * | that has aborted already | nothing is begun |
 * | it is paused and stops, or stops and is paused | what is in flight is finished |
 *
 * It runs once: make another one for another run.
 *
 * @remarks
 * Source: `Controller` of sigs.k8s.io/controller-runtime.
 *
 * @typeParam Item - what is added and looked at: strings, or anything with a `keyOf`
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
  /** Its name, so that a `Manager` takes it as it is. */
  readonly name: string;
  readonly #options: ResolvedControllerOptions<Item>;
  readonly #hooks: Hooks;
  readonly #crew: Crew<Item>;
  readonly #feeders: readonly Feeder<Item>[];
  readonly #drains = new Drains();
  readonly #disposal = new AbortController();
  #state: Exclude<ControllerState, "paused"> = "idle";
  #ended: Promise<void> = Promise.resolve();
  #drain: ControllerDrain<Item> | undefined = undefined;

  /**
   * @param options - see {@link ControllerOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: ControllerArguments<Item>) {
    const resolved = resolveController<Item>(options as ControllerOptions<Item>);
    const { name, clock, random, sources, logger, metrics, workers } = resolved;
    this.name = name;
    this.#options = resolved;
    this.#hooks = new Hooks(logger, name);
    this.#crew = new Crew(resolved, this.#hooks, () => this.#settleDrains());
    this.#feeders = sources.map(
      (source) =>
        new Feeder(source, {
          clock,
          random: random === undefined ? undefined : () => this.#hooks.draw(random),
          enqueue: (item, added) => this.add(item, added),
          onError: (error, failed) => this.#reportSource(error, failed),
        }),
    );
    this.#hooks.call("metrics", () => metrics?.maxWorkers(workers));
  }

  /**
   * Asks for an item to be looked at, now or later. It can be called at any time: before `run` items
   * pile up, after the end they are ignored.
   *
   * @param item - what to look at
   * @param options - see {@link EnqueueOptions}; the reason is `"add"` unless given
   * @throws TypeError if the item's key is no string, RangeError or TypeError for a bad option
   */
  add(item: Item, options?: EnqueueOptions): void {
    if (this.#state !== "stopped") this.#crew.add(item, options?.reason ?? "add", options);
  }

  /**
   * Runs it until the signal aborts.
   *
   * @param signal - stops it; see the table of {@link Controller}
   * @returns a promise that resolves after the drain: no timer and no listener of the controller is
   * left, unless a reconcile or a source does not stop, which is logged. A second call, and one after a
   * disposal, rejects with an Error, a bad argument with a TypeError
   */
  async run(signal: AbortSignal): Promise<void> {
    requireSignal("signal", signal);
    if (this.#state !== "idle") throw new Error(`controller ${this.#options.name} runs only once`);
    this.#state = "running";
    this.#ended = this.#live(signal);
    await this.#ended;
  }

  /**
   * No reconcile begins until {@link Controller.resume}. What runs goes on, keys pile up. While it stops
   * none begins any more: what is queued is left to the report.
   */
  pause(): void {
    const { gate } = this.#crew;
    if (this.#state !== "stopping") {
      gate.pause();
      return;
    }
    gate.close();
    this.#settleDrains();
  }

  /** Goes on after a {@link Controller.pause}. */
  resume(): void {
    this.#crew.gate.open();
  }

  /** What it does, as plain data: `JSON.stringify` it for a health endpoint. */
  status(): ControllerStatus<Item> {
    const { queue, gate, busy, lastError } = this.#crew;
    const isPaused = this.#state === "running" && gate.is("paused");
    return {
      name: this.#options.name,
      state: isPaused ? "paused" : this.#state,
      workers: { total: this.#options.workers, busy },
      queue: { size: queue.size, delayed: queue.delayed, inFlight: queue.inFlight },
      inFlight: this.#statusInFlight(),
      lastError,
      sources: this.#feeders.map((feeder) => feeder.status()),
      drain: this.#drain,
    };
  }

  /** Stops it as an abort does, and waits for the end of `run`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal.abort();
    if (this.#state === "idle") {
      this.#state = "stopping";
      this.#ended = this.#finish();
    }
    await this.#ended;
  }

  async #live(signal: AbortSignal): Promise<void> {
    this.#hooks.log("info", {}, "controller started");
    const stop = new AbortController();
    const stopped = new Promise<void>((resolve) => {
      // At once, so that what is added after the abort is not taken.
      onAbort(stop.signal, () => {
        this.#state = "stopping";
        this.#crew.queue.shutDown();
        if (this.#crew.gate.is("paused")) this.#crew.gate.close();
        resolve();
      });
    });
    const subscriptions = [signal, this.#disposal.signal].map((each) =>
      onAbort(each, (reason) => stop.abort(reason)),
    );
    if (signal.aborted) this.#crew.gate.close();
    this.#crew.start();
    for (const feeder of this.#feeders)
      void feeder.run(stop.signal).then(() => this.#settleDrains());
    await stopped;
    for (const subscription of subscriptions) subscription[Symbol.dispose]();
    const { clock, grace } = this.#options;
    if (!this.#isDrained && grace > 0) await this.#drains.wait(clock, grace, undefined);
    this.#crew.abort(stop.signal.reason);
    await this.#crew.ended();
    await this.#finish();
  }

  async #finish(): Promise<void> {
    const { queue } = this.#crew;
    const { running, queued, delayed } = await queue.drain({ timeout: 0 });
    const finished = running.length === 0 && queued.length === 0;
    this.#state = "stopped";
    this.#drain = {
      ...{ finished, running, queued },
      delayed: delayed.map(({ key, item, after }) => ({ key, item: item.item, after })),
    };
    const sources = this.#feeders
      .map((feeder) => feeder.status())
      .filter(({ state }) => state !== "ended" && state !== "idle")
      .map(({ name }) => name);
    const details = { running, queued: queued.length, delayed: delayed.length, sources };
    if (finished && sources.length === 0) this.#hooks.log("info", details, "controller stopped");
    else this.#hooks.log("error", details, "controller stopped, and not everything did");
  }

  get #isDrained(): boolean {
    return this.#crew.isIdle && this.#feeders.every((feeder) => feeder.isOver);
  }

  #settleDrains(): void {
    if (this.#state === "stopping" && this.#isDrained) this.#drains.settle();
  }

  #statusInFlight(): InFlightStatus[] {
    const now = this.#options.clock.monotonic();
    return Array.from(this.#crew.runs, ({ key, startedAt, attempt, reason, state }) => ({
      key,
      age: now - startedAt,
      attempt,
      reason,
      // What has settled is not among the runs.
      state: state as InFlightStatus["state"],
    }));
  }

  #reportSource(error: unknown, name: string): void {
    const { onError } = this.#options;
    const origin: ErrorOrigin = { kind: "source", name };
    this.#hooks.log("error", { source: name, err: error }, "a source failed");
    this.#hooks.call("onError", () => onError(error, origin));
  }
}
