import { onAbort } from "@holdfast/clock";
import {
  requireMethods,
  requireOptions,
  requireSignal,
  requireText,
} from "@holdfast/clock/internal";
import { messageOf } from "../message-of.ts";
import {
  type AddRunnableOptions,
  type ManagerOptions,
  type ResolvedManagerOptions,
  resolveManager,
} from "./manager-options.ts";
import type { ManagerState, ManagerStatus } from "./manager-status.ts";
import type { Runnable } from "./runnable.ts";
import type { RunnableError } from "./runnable-error.ts";
import { RunnableGroup } from "./runnable-group.ts";
import { onStopSignal } from "./stop-signals.ts";

/**
 * Starts the parts of a program in order, keeps them together, and stops them in the opposite order.
 *
 * Groups start one after another, each when all of the one before are ready. The runnables of a group
 * start and stop together. Each group has a signal of its own that aborts when its turn to stop has
 * come, so what others still need, a lease or a server, outlives them.
 *
 * | What happens | What follows |
 * | --- | --- |
 * | the signal of {@link Manager.run} aborts, or SIGINT or SIGTERM arrives | all stop, in order |
 * | a runnable rejects, ends early or is not ready in time | all stop, in order; `run` rejects |
 * | a runnable does not end in time | the next group stops; `run` rejects and names it |
 * | a second SIGINT or SIGTERM arrives | the process ends at once |
 *
 * @remarks
 * Source: `manager.Manager` of sigs.k8s.io/controller-runtime. There, all groups share one time to
 * stop, nothing limits the start, and a runnable may end early without anybody noticing.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { Manager, type Runnable } from "@holdfast/controller";
 *
 * const clock = new FakeClock();
 *
 * const part = (name: string): Runnable => ({
 *   name,
 *   async run(signal) {
 *     console.log(name, "starts");
 *     await clock.sleep(Infinity, { signal }).catch(() => {});
 *     console.log(name, "ends");
 *   },
 * });
 *
 * const manager = new Manager({ clock, groups: [{ name: "servers" }, { name: "workers" }] });
 * manager.add(part("metrics"), { group: "servers" });
 * manager.add(part("uploads"), { group: "workers" });
 *
 * const stop = new AbortController();
 * const running = manager.run(stop.signal);
 * await clock.step(1_000);
 * // => metrics starts
 * // => uploads starts
 * console.log(manager.status().state); // => running
 * stop.abort();
 * await running;
 * // => uploads ends
 * // => metrics ends
 * ```
 */
export class Manager implements AsyncDisposable {
  readonly #options: ResolvedManagerOptions;
  /** In the order in which they start. */
  readonly #groups: readonly RunnableGroup[];
  /** Those that have something to stop, the first to stop at the front. */
  readonly #started: RunnableGroup[] = [];
  readonly #errors: RunnableError[] = [];
  readonly #halt = new AbortController();
  readonly #halted: Promise<void>;
  #state: ManagerState = "idle";
  #run: Promise<void> = Promise.resolve();

  /**
   * @param options - see {@link ManagerOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: ManagerOptions = {}) {
    this.#options = resolveManager(options);
    const { clock } = this.#options;
    const report = (error: RunnableError): void => this.#report(error);
    this.#groups = this.#options.groups.map((group) => new RunnableGroup(group, { clock, report }));
    this.#halted = new Promise((resolve) => {
      onAbort(this.#halt.signal, () => resolve());
    });
  }

  /**
   * Adds a runnable, before {@link Manager.run}.
   *
   * @param runnable - what to run
   * @param options - see {@link AddRunnableOptions}
   * @throws RangeError if its name is empty or taken, or the group is unknown, TypeError for a bad
   * argument, Error if the manager was started
   */
  add(runnable: Runnable, options: AddRunnableOptions = {}): void {
    requireMethods("runnable", runnable, ["run"]);
    requireText("runnable.name", runnable.name);
    requireOptions("options", options);
    const { group: wanted = this.#groups.at(-1)?.name } = options;
    const group = this.#groups.find(({ name }) => name === wanted);
    if (group === undefined)
      throw new RangeError(
        `options.group must be ${this.#groupNames}, got ${JSON.stringify(wanted)}`,
      );
    if (this.status().runnables.some(({ name }) => name === runnable.name))
      throw new RangeError(
        `runnable.name must be different from all others, got ${JSON.stringify(runnable.name)} twice`,
      );
    if (this.#state !== "idle")
      throw new Error(`a manager takes no more once it was started; this one is ${this.#state}`);
    group.add(runnable);
  }

  /**
   * Starts everything, and stops it when `signal` aborts, a stop signal arrives or a runnable fails.
   * A signal that has aborted already starts nothing. A manager runs once.
   *
   * @param signal - stops the manager. What is told to stop gets its reason
   * @returns a promise that resolves when all have stopped because they were told to. If anything
   * went wrong it rejects, also when all have stopped, with an `AggregateError` of one
   * {@link RunnableError} each, in the order in which they happened. What goes wrong after that is
   * only logged. A bad argument rejects with a TypeError, a second call with an Error
   */
  async run(signal?: AbortSignal): Promise<void> {
    if (signal !== undefined) requireSignal("signal", signal);
    if (this.#state !== "idle") throw new Error(`a manager runs once; this one is ${this.#state}`);
    this.#state = "starting";
    this.#run = this.#live(signal);
    return this.#run;
  }

  /** What the manager and each runnable do now. */
  status(): ManagerStatus {
    const runnables = this.#groups.flatMap(({ name: group, members }) =>
      members.map(({ name, state }) => ({ name, group, state })),
    );
    return { state: this.#state, runnables };
  }

  /**
   * Stops everything, for `await using`. It never rejects: what went wrong, {@link Manager.run}
   * tells. Before that was called, it makes sure that it never starts anything.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state === "idle") this.#state = "stopped";
    this.#halt.abort(new DOMException("the manager was disposed of", "AbortError"));
    await Promise.allSettled([this.#run]);
  }

  async #live(signal: AbortSignal | undefined): Promise<void> {
    const { signals } = this.#options;
    const outer = signal && onAbort(signal, (reason) => this.#halt.abort(reason));
    const system =
      signals &&
      onStopSignal(signals, (name) =>
        this.#halt.abort(new DOMException(`${name} arrived`, "AbortError")),
      );
    try {
      await this.#start();
      await this.#halted;
      await this.#stop();
    } finally {
      outer?.[Symbol.dispose]();
      system?.[Symbol.dispose]();
    }
    if (this.#errors.length === 0) return;
    const message = this.#errors.map((error) => error.message).join("; ");
    throw new AggregateError(this.#errors, message);
  }

  async #start(): Promise<void> {
    for (const group of this.#groups) {
      if (this.#halt.signal.aborted) return;
      this.#started.unshift(group);
      await group.start(this.#halted);
    }
    if (this.#halt.signal.aborted) return;
    this.#state = "running";
    this.#options.logger.info({}, "everything is ready");
  }

  async #stop(): Promise<void> {
    const { reason } = this.#halt.signal;
    const { logger } = this.#options;
    this.#state = "stopping";
    logger.info({ reason: messageOf(reason) }, "stopping");
    for (const group of this.#started) {
      await group.stop(reason);
      logger.debug({ group: group.name }, "group has stopped");
    }
    this.#state = "stopped";
    logger.info({}, "everything has stopped");
  }

  #report(error: RunnableError): void {
    // Ending before one's turn, once the program stops: a child may have got the same Ctrl-C.
    if (error.problem === "ended" && this.#halt.signal.aborted) return;
    this.#errors.push(error);
    this.#options.logger.error({ err: error }, error.message);
    this.#halt.abort(error);
  }

  get #groupNames(): string {
    return this.#groups.map(({ name }) => JSON.stringify(name)).join(" or ");
  }
}
