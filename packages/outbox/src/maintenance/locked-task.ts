import { LinkedController } from "@holdfast/clock";
import { LeaderElector, type Leadership, type ResourceLock } from "@holdfast/controller";
import { isStop, type Kinds, methods, positive, required, requireSignal } from "@holdfast/kit";
import { withTimeout } from "@holdfast/wait";
import { loop } from "@holdfast/wait/loop";
import type { OutboxStore } from "../store/outbox-store.ts";
import {
  type Resolved,
  report,
  reportRestriction,
  resolveTask,
  TASK_OPTIONS,
  type TaskOptions,
} from "../task.ts";

/** Options for tasks that run in every process, and work in one at a time. Durations are in milliseconds. */
export interface LockedTaskOptions extends TaskOptions {
  /** The lock that decides which process works. */
  readonly lock: ResourceLock;

  /**
   * From the end of one round to the start of the next. Above 0, finite.
   *
   * @defaultValue `10_000`
   */
  readonly interval?: number | undefined;

  /**
   * Maximum time of a round to acquire the lock. Above 0, finite.
   *
   * @defaultValue `5_000`
   */
  readonly acquireTimeout?: number | undefined;

  /**
   * Duration of the lease: how long the lock stays with a holder that died. Above 0, finite. It is renewed while a
   * round lasts.
   *
   * @defaultValue `300_000`
   */
  readonly leaseDuration?: number | undefined;
}

/** The options of every task under a lock. */
export const LOCKED_TASK_OPTIONS: Kinds<LockedTaskOptions> = {
  ...TASK_OPTIONS,
  lock: required(methods("get", "create", "update")),
  interval: positive,
  acquireTimeout: positive,
  leaseDuration: positive,
};

/** Fills in the defaults of options that were read. */
export function resolveLockedTask(options: LockedTaskOptions): Resolved<LockedTaskOptions> {
  const task = resolveTask(options);
  const { lock, interval = 10_000, acquireTimeout = 5_000, leaseDuration = 300_000 } = options;
  return { ...task, lock, interval, acquireTimeout, leaseDuration };
}

/** A task in rounds, each under the lock: one process at a time. */
export abstract class LockedTask {
  /** The name of the option, and the task: `shop-1/recovery`. So a manager can have all tasks of a process. */
  readonly name: string;
  readonly #options: Resolved<LockedTaskOptions>;
  readonly #store: Pick<OutboxStore<never>, "restriction" | "now">;
  /** The same for all rounds: it measures for how long a dead holder has not renewed. */
  readonly #elector: LeaderElector;
  /** The duration of the longest request of a round, in milliseconds. */
  #longest = 0;
  /** Called when the lock is acquired. */
  #onLead: (() => void) | undefined;

  /** @internal */
  constructor(
    options: Resolved<LockedTaskOptions> & {
      readonly store: Pick<OutboxStore<never>, "restriction" | "now">;
    },
    task: string,
  ) {
    const { lock, leaseDuration, acquireTimeout, clock, random, logger } = options;
    this.name = `${options.name}/${task}`;
    this.#options = options;
    this.#store = options.store;
    this.#elector = new LeaderElector({
      lock,
      identity: this.name, // A lock that tasks share needs two names.
      clock,
      random,
      logger,
      once: true,
      leaseDuration,
      renewDeadline: (leaseDuration * 2) / 3,
      retryPeriod: Math.min(acquireTimeout / 5, leaseDuration / 10),
      lead: async (leadership) => {
        this.#onLead?.();
        try {
          await this.round(leadership);
        } catch (error) {
          const { signal, lost } = leadership;
          if (!isStop(error, signal) && !isStop(error, lost))
            report({ type: "error", error }, options);
        }
      },
      onError: (error) => report({ type: "error", error, of: "lock" }, options),
    });
  }

  /** Runs until the signal aborts, and releases the lock. Then it resolves. */
  async run(signal: AbortSignal): Promise<void> {
    requireSignal("signal", signal);
    const { interval, clock } = this.#options;
    const delay = (): number => Math.max(interval, this.#longest);
    const asking = reportRestriction(this.#store, this.#options, signal);
    await loop({ run: () => this.#round(signal), delay, signal, clock });
    await asking;
  }

  /**
   * One round. It may finish its request after `signal` aborts, and must end when `lost` does.
   *
   * @internal
   */
  protected abstract round(leadership: Leadership): Promise<void>;

  /**
   * A request that ends after `storeTimeout`, or when the lock is lost. The next round comes no sooner than after as
   * long a rest.
   *
   * @internal
   */
  protected async request<Value>(
    request: (signal: AbortSignal) => Promise<Value>,
    lost: AbortSignal,
  ): Promise<Value> {
    const { clock, storeTimeout } = this.#options;
    const began = clock.monotonic();
    try {
      return await withTimeout(request, storeTimeout, { clock, signal: lost, label: "store" });
    } finally {
      this.#longest = Math.max(this.#longest, clock.monotonic() - began);
    }
  }

  /**
   * Now, by the wall clock of this process, and never later than by that of the database: a clock that is ahead ends
   * nothing early.
   *
   * @internal
   */
  protected async now(lost: AbortSignal): Promise<number> {
    const theirs = await this.request(async (own) => this.#store.now?.(own), lost);
    return Math.floor(Math.min(this.#options.clock.now(), theirs ?? Number.POSITIVE_INFINITY));
  }

  async #round(signal: AbortSignal): Promise<void> {
    const { clock, acquireTimeout } = this.#options;
    this.#longest = 0;
    using end = new LinkedController(signal);
    using timer = clock.afterFunc(acquireTimeout, () => end.abort(), { label: "acquireTimeout" });
    this.#onLead = () => timer.stop();
    await this.#elector.run(end.signal);
  }
}
