import type { Leadership } from "@holdfast/controller";
import { above, count, type Kinds, methods, read, required } from "@holdfast/kit";
import { loop } from "@holdfast/wait/loop";
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
  readonly store: Pick<
    OutboxStore<never>,
    "removeDelivered" | "removeOnce" | "restriction" | "now"
  >;

  /**
   * From the end of one round to the start of the next. Above 0, finite.
   *
   * @defaultValue `60_000`
   */
  readonly interval?: number | undefined;

  /**
   * How long a delivered message is kept, from its delivery. Above 0; `Infinity` keeps all. Keep it longer than
   * consumers remember ids, to look messages up for them.
   *
   * @defaultValue `604_800_000`, a week
   */
  readonly olderThan?: number | undefined;

  /**
   * The number of messages, or keys, removed by one request. Whole, at least 1.
   *
   * @defaultValue `1_000`
   */
  readonly batch?: number | undefined;
}

/**
 * Removes messages that were delivered long ago, in small batches, and the keys of unique messages and of
 * `Outbox.once` whose time is over. Dead letters stay until they are replayed or discarded.
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
   * Removes messages batch by batch, until one is not full, and then keys.
   *
   * @internal
   */
  protected override async round(leadership: Leadership): Promise<void> {
    const { store, olderThan, batch } = this.#options;
    const now = await this.now(leadership.lost);
    let count = 0;
    const removeDelivered = async (own: AbortSignal): Promise<number> => {
      const removed = await store.removeDelivered(now - olderThan, batch, own);
      count += removed;
      return removed;
    };
    try {
      if (Number.isFinite(olderThan)) await this.#inBatches(leadership, removeDelivered);
    } finally {
      if (count > 0) report({ type: "removed", count }, this.#options);
    }
    await this.#inBatches(leadership, (own) => store.removeOnce(now, batch, own));
  }

  async #inBatches(
    { signal, lost }: Leadership,
    remove: (own: AbortSignal) => Promise<number>,
  ): Promise<void> {
    const { clock, batch } = this.#options;
    let took = 0;
    const run = async (): Promise<number> => {
      const began = clock.monotonic();
      const removed = await this.request(remove, lost);
      took = clock.monotonic() - began;
      return removed;
    };
    const delay = (): number => Math.max(BATCH_DELAY, took);
    const isDone = (removed: number): boolean => removed < batch;
    await loop({ run, isDone, delay, signal, clock });
  }
}

export const RETENTION_OPTIONS: Kinds<RetentionOptions> = {
  ...LOCKED_TASK_OPTIONS,
  store: required(methods("removeDelivered", "removeOnce")),
  olderThan: above(0),
  batch: count,
};

function resolveRetention(options: RetentionOptions): Resolved<RetentionOptions> {
  const given = read("options", options, "Retention", RETENTION_OPTIONS);
  const { store, interval = 60_000, olderThan = 7 * 86_400_000, batch = 1_000 } = given;
  return { ...resolveLockedTask({ ...given, interval }), store, olderThan, batch };
}
