import { AsyncLocalStorage } from "node:async_hooks";
import {
  type KeyShards,
  type Leadership,
  type Logger,
  Manager,
  type Runnable,
} from "@holdfast/controller";
import { requireArray, requireMethods } from "@holdfast/kit";
import { LOGGER } from "../logger.ts";
import type { ResolvedOperator, StartWork } from "./operator-options.ts";

/** Time to stop of work that states none, in milliseconds: the default of a controller. */
const DEFAULT_STOP_TIMEOUT = 20_000;

/** Leadership of the slot of the key that is reconciled. Before Node 24 each storage makes every promise slower. */
const slots = new AsyncLocalStorage<{ readonly of: TermWork; readonly leadership: Leadership }>();

/** The work of the terms, one after the other. */
export class TermWork {
  readonly #options: Pick<ResolvedOperator, "clock" | "logger">;
  /** Leadership of the current term, or of the last one: a reconcile that ignores its abort outlives its term. */
  #leadership: Leadership | undefined;
  #parts: readonly Runnable[] = [];

  constructor(options: Pick<ResolvedOperator, "clock" | "logger">) {
    this.#options = options;
  }

  /** The longest time that a part may take to stop, in milliseconds. */
  get stopTimeout(): number {
    const times = this.#parts.map(({ stopTimeout }) => stopTimeout);
    return Math.max(...times.map((time) => time ?? DEFAULT_STOP_TIMEOUT), DEFAULT_STOP_TIMEOUT);
  }

  /**
   * Rejects a write of work whose lease is over, also in a process that stood still, and of work that outlives its
   * term. Before the first term every write passes: it is one of the setup.
   *
   * @throws the reason of `lost`, a `LeadershipLostError`, or that of the stop
   */
  readonly requireLease = (): void => {
    const slot = slots.getStore();
    const leadership = slot?.of === this ? slot.leadership : this.#leadership;
    if (leadership === undefined || leadership.isHeld) return;
    const { lost, signal } = leadership;
    throw lost.aborted ? lost.reason : signal.reason;
  };

  /** Calls `reconcile`, whose writes need the lease of a slot. */
  underSlot<Result>(leadership: Leadership | undefined, reconcile: () => Result): Result {
    return leadership === undefined ? reconcile() : slots.run({ of: this, leadership }, reconcile);
  }

  /**
   * Runs the work of one term until its signal aborts and all of it has ended, however long that takes: the lease is
   * held meanwhile. Rejects if a part fails, after the others have ended.
   *
   * @param shards - divides the keys: each has the lease of its slot
   */
  async run(start: StartWork, leadership: Leadership, shards?: KeyShards): Promise<void> {
    const { clock, logger } = this.#options;
    this.#leadership = leadership;
    const parts = start(leadership);
    requireArray("the work of a term", parts);
    const stopTimeout = Number.POSITIVE_INFINITY;
    const manager = new Manager({ clock, logger: ofTerm(logger), stopTimeout });
    for (const [index, part] of parts.entries()) {
      requireMethods(`the work of a term[${index}]`, part, ["run"]);
      manager.add(patient(part));
    }
    this.#parts = parts;
    try {
      if (shards === undefined) await manager.run(leadership);
      else await manager.run(leadership.signal, { shards });
    } finally {
      this.#parts = [];
    }
  }
}

/** The operator's own manager logs that it runs and stops. That of a term logs it for debugging only. */
function ofTerm(logger: Logger): Logger {
  const methods = LOGGER.map((level) => [
    level,
    (details: object, message: string) =>
      level === "info"
        ? logger.debug({ ...details, of: "the term" }, message)
        : logger[level](details, message),
  ]);
  return Object.fromEntries(methods) as Logger;
}

/** A part that has as long as it wants to stop: the operator's manager limits all parts together. */
function patient(part: Runnable): Runnable {
  return {
    name: part.name,
    stopTimeout: Number.POSITIVE_INFINITY,
    run: (signal, options) => part.run(signal, options),
    ready: async (signal) => part.ready?.(signal),
  };
}
