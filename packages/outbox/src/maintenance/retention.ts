import type { Leadership } from "@holdfast/controller";
import { count, type Kinds, methods, positive, read, required } from "@holdfast/kit";
import { loop } from "@holdfast/wait";
import type { OutboxStore } from "../store/outbox-store.ts";
import { type Resolved, report } from "../task.ts";
import {
  LOCKED_TASK_OPTIONS,
  LockedTask,
  type LockedTaskOptions,
  resolveLockedTask,
} from "./locked-task.ts";

/** The minimum delay between two batches, in milliseconds; as long as a batch took. Others want the database too. */
const BATCH_DELAY = 50;

/** Options for {@link Retention}. Durations are in milliseconds. */
export interface RetentionOptions extends LockedTaskOptions {
  /** Where the messages are. */
  readonly store: Pick<OutboxStore<never>, "removeDelivered" | "restriction">;

  /**
   * From the end of one round to the start of the next. Above 0, finite.
   *
   * @defaultValue `60_000`
   */
  readonly interval?: number | undefined;

  /**
   * How long a delivered message is kept, from its delivery. Above 0, finite. Keep it longer than consumers
   * remember ids, to look messages up for them.
   *
   * @defaultValue `604_800_000`, a week
   */
  readonly olderThan?: number | undefined;

  /**
   * The number of messages removed by one request. Whole, at least 1.
   *
   * @defaultValue `1_000`
   */
  readonly batch?: number | undefined;
}

/**
 * Removes messages that were delivered long ago, in small batches. Dead letters stay until they are replayed
 * or discarded.
 *
 * It runs in every process, and works in one at a time: the holder of a lock. The lock may be that of
 * `Recovery`; then the two take turns. Each round that removed messages reports how many, as an
 * event of type `removed`.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { MemoryLock } from "@holdfast/controller";
 * import { Retention } from "@holdfast/outbox";
 * import { MemoryStore } from "@holdfast/outbox/testing";
 *
 * const clock = new FakeClock();
 * const retention = new Retention({
 *   name: "shop-1",
 *   store: new MemoryStore(),
 *   lock: new MemoryLock(),
 *   olderThan: 30 * 86_400_000,
 *   onEvent: (event) => event.type === "removed" && console.log(event.count),
 *   clock,
 * });
 * const stop = new AbortController();
 * const running = retention.run(stop.signal);
 * await clock.step(60_000);
 * stop.abort();
 * await clock.run(() => running);
 * ```
 */
export class Retention extends LockedTask {
  readonly #options: Resolved<RetentionOptions>;

  /** @throws RangeError or TypeError that names the option */
  constructor(options: RetentionOptions) {
    const resolved = resolveRetention(options);
    super(resolved, "retention");
    this.#options = resolved;
  }

  /**
   * Removes batch by batch, until one is not full.
   *
   * @internal
   */
  protected override async round({ signal, lost }: Leadership): Promise<void> {
    const { store, clock, olderThan, batch } = this.#options;
    const before = Math.floor(clock.now() - olderThan);
    let count = 0;
    let took = 0;
    const removeBatch = async (): Promise<number> => {
      const began = clock.monotonic();
      const removed = await this.request((own) => store.removeDelivered(before, batch, own), lost);
      took = clock.monotonic() - began;
      count += removed;
      return removed;
    };
    const delay = (): number => Math.max(BATCH_DELAY, took);
    const isDone = (removed: number): boolean => removed < batch;
    try {
      await loop({ run: removeBatch, isDone, delay, signal, clock });
    } finally {
      if (count > 0) report({ type: "removed", count }, this.#options);
    }
  }
}

export const RETENTION_OPTIONS: Kinds<RetentionOptions> = {
  ...LOCKED_TASK_OPTIONS,
  store: required(methods("removeDelivered")),
  olderThan: positive,
  batch: count,
};

function resolveRetention(options: RetentionOptions): Resolved<RetentionOptions> {
  const given = read("options", options, "Retention", RETENTION_OPTIONS);
  const { store, interval = 60_000, olderThan = 7 * 86_400_000, batch = 1_000 } = given;
  return { ...resolveLockedTask({ ...given, interval }), store, olderThan, batch };
}
