import { aborted, onAbort } from "@holdfast/clock";
import {
  holdOpen,
  type Kinds,
  messageOf,
  parsed,
  read,
  requireMethods,
  requireNotNegative,
  requireText,
  show,
} from "@holdfast/kit";
import type { Leadership } from "../leadership.ts";
import { type LogLine, logSafely } from "../logger.ts";
import { type ResolvedRun, type RunOptions, resolveRun } from "../run-options.ts";
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
import { type StopTimes, stopTimeoutOf } from "./stop-timeout-of.ts";

export const ADD_RUNNABLE_OPTIONS: Kinds<AddRunnableOptions> = { group: parsed("group") };

/**
 * Starts the parts of a program in order, and stops them in the opposite order.
 *
 * Groups start one after another, each when all runnables of the group before are ready. The runnables
 * of a group start and stop together. Each group has its own signal, which aborts when the groups after
 * it have ended. So a lease or a server outlives the work that depends on it.
 *
 * | Event | Reaction |
 * | --- | --- |
 * | the signal of {@link Manager.run} aborts, or SIGINT or SIGTERM arrives | all groups stop, in order |
 * | a runnable rejects, ends early or is not ready in time | all groups stop, in order; `run` rejects |
 * | a runnable does not end in time | the next group stops; `run` rejects with an error that names it |
 * | the runnables ask for more time than `stopTimeout` | each gets a share, which it learns by {@link RunOptions.stopWithin} |
 * | a second SIGINT or SIGTERM arrives | the process exits at once |
 *
 * @remarks Source: `manager.Manager` of sigs.k8s.io/controller-runtime. There a slow runnable uses up
 * the stop time of all others, nothing limits the start, and a runnable that ends early goes unnoticed.
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
  /** Groups in the order in which they start. */
  readonly #groups: readonly RunnableGroup[];
  /** Groups that were started, in the order in which they stop. */
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
    this.#halted = aborted(this.#halt.signal);
  }

  /**
   * Adds a runnable, before {@link Manager.run}.
   *
   * @param runnable - see {@link Runnable}
   * @param options - see {@link AddRunnableOptions}
   * @throws RangeError if its name is empty or taken, the group is unknown, or its `stopTimeout` is out of its range,
   * TypeError for a bad argument, Error if the manager was started
   */
  add(runnable: Runnable, options: AddRunnableOptions = {}): void {
    requireMethods("runnable", runnable, ["run"]);
    requireText("runnable.name", runnable.name);
    if (runnable.stopTimeout !== undefined)
      requireNotNegative("runnable.stopTimeout", runnable.stopTimeout);
    const given = read("options", options, "add", ADD_RUNNABLE_OPTIONS);
    const { group: wanted = this.#groups.at(-1)?.name } = given;
    const group = this.#groups.find(({ name }) => name === wanted);
    if (group === undefined)
      throw new RangeError(`options.group must be ${this.#groupNames}, got ${show(wanted)}`);
    if (this.status().runnables.some(({ name }) => name === runnable.name))
      throw new RangeError(
        `runnable.name must be unique, got ${JSON.stringify(runnable.name)} twice`,
      );
    if (this.#state !== "idle")
      throw new Error(`add runnables before run(); this manager is ${this.#state}`);
    group.add(runnable);
  }

  /**
   * Starts everything, and stops it when `signal` aborts, a stop signal arrives or a runnable fails. If
   * `signal` has aborted already, nothing starts. A manager runs once.
   *
   * @param signal - stops the manager; the runnables receive its reason. Or the leadership of a term, whose `signal` does,
   * and which the runnables receive as `options.leadership`
   * @param options - see {@link RunOptions}
   * @returns a promise that resolves when all runnables have stopped after the abort. After any problem it
   * rejects, once everything has stopped, with an `AggregateError` of {@link RunnableError}s in the order
   * in which they happened. Later problems are only logged. A bad argument rejects with a TypeError, a
   * second call with an Error
   */
  async run(signal?: AbortSignal | Leadership, options: RunOptions = {}): Promise<void> {
    const given = signal === undefined ? new AbortController().signal : signal;
    const run = resolveRun(given, options);
    if (this.#state !== "idle")
      throw new Error(`manager is already ${this.#state}; create a new one`);
    this.#state = "starting";
    this.#run = this.#live(run);
    return this.#run;
  }

  /** State of the manager and of each runnable, as plain data. */
  status(): ManagerStatus {
    const runnables = this.#groups.flatMap(({ name: group, members }) =>
      members.map(({ name, state }) => ({ name, group, state })),
    );
    return { state: this.#state, runnables };
  }

  /**
   * Stops everything, for `await using`. Never rejects: {@link Manager.run} does. Called before `run`, it
   * prevents the start.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state === "idle") this.#state = "stopped";
    this.#halt.abort(new DOMException("the manager was disposed", "AbortError"));
    await Promise.allSettled([this.#run]);
  }

  async #live({ signal, ref, leadership, shards, stopWithin }: ResolvedRun): Promise<void> {
    const { signals, clock } = this.#options;
    const ends: Disposable[] = [];
    try {
      if (ref) ends.push(holdOpen(clock));
      ends.push(onAbort(signal, (reason) => this.#halt.abort(reason)));
      if (signals)
        ends.push(
          onStopSignal(signals, clock, (name) =>
            this.#halt.abort(new DOMException(`${name} arrived`, "AbortError")),
          ),
        );
      await this.#start({
        ref,
        ...(leadership === undefined ? {} : { leadership }),
        ...(shards === undefined ? {} : { shards }),
      });
      await this.#halted;
      await this.#stop(stopWithin);
    } finally {
      for (const end of ends) end[Symbol.dispose]();
      this.#state = "stopped";
    }
    if (this.#errors.length === 0) return;
    const message = this.#errors.map((error) => error.message).join("; ");
    throw new AggregateError(this.#errors, message);
  }

  async #start(options: RunOptions): Promise<void> {
    for (const group of this.#groups) {
      if (this.#halt.signal.aborted) return;
      this.#started.unshift(group);
      await group.start(this.#halted, options);
    }
    if (this.#halt.signal.aborted) return;
    this.#state = "running";
    this.#log("info", {}, "manager running: every runnable is ready");
    this.#logStopTimes();
  }

  /** Says that a stop may cut runnables short, while there is time to raise `stopTimeout`. */
  #logStopTimes(): void {
    const { stopTimeout } = this.#options;
    const times = this.#groups.map(({ stopTimes: { fixed, wish = 0 } }) => fixed ?? wish);
    const asked = times.reduce((sum, time) => sum + time, 0);
    const message = "runnables ask for more time to stop than stopTimeout; each gets a share";
    if (asked > stopTimeout) this.#log("info", { asked, stopTimeout }, message);
  }

  async #stop(stopWithin: ResolvedRun["stopWithin"]): Promise<void> {
    const { reason } = this.#halt.signal;
    const { clock, stopTimeout } = this.#options;
    const start = clock.monotonic();
    const given = stopWithin((err) =>
      this.#log("error", { err }, "stopWithin failed; the stop takes stopTimeout"),
    );
    const total = Math.min(stopTimeout, given);
    this.#state = "stopping";
    this.#log("info", { reason: messageOf(reason) }, "manager stopping");
    const isShort = total < stopTimeout; // then the options of the groups may exceed it
    const times = this.#started.map(({ stopTimes: { fixed, wish } }) =>
      isShort ? { fixed: undefined, wish: fixed ?? wish } : { fixed, wish },
    );
    for (const [index, group] of this.#started.entries()) {
      const elapsed = Math.ceil(clock.monotonic() - start);
      const later = times.slice(index + 1);
      const own = times[index] as StopTimes;
      await group.stop(reason, stopTimeoutOf({ total, elapsed, own, later }));
      this.#log("debug", { group: group.name }, "group stopped");
    }
    this.#state = "stopped";
    this.#log("info", {}, "manager stopped");
  }

  #report(error: RunnableError): void {
    // Ending early during a stop is allowed: a child process may have received the same Ctrl-C.
    if (error.problem === "ended" && this.#halt.signal.aborted) return;
    this.#errors.push(error);
    this.#log("error", { err: error }, error.message);
    this.#halt.abort(error);
  }

  #log(...line: LogLine): void {
    logSafely(this.#options.logger, ...line);
  }

  get #groupNames(): string {
    return this.#groups.map(({ name }) => JSON.stringify(name)).join(" or ");
  }
}
