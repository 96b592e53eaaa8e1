import { MemoryLock } from "@holdfast/controller";
import { type Kinds, read } from "@holdfast/kit";
import {
  OUTBOX_SERVICE_OPTIONS,
  OutboxService,
  type OutboxServiceOptions,
} from "../service/outbox-service.ts";
import {
  MEMORY_STORE_OPTIONS,
  MemoryStore,
  type MemoryStoreOptions,
  type MemoryTransaction,
} from "./memory-store.ts";

/** Options for {@link MemoryOutbox}. Durations are in milliseconds. */
export interface MemoryOutboxOptions extends OutboxServiceOptions, MemoryStoreOptions {}

export const MEMORY_OUTBOX_OPTIONS: Kinds<MemoryOutboxOptions> = {
  ...OUTBOX_SERVICE_OPTIONS,
  ...MEMORY_STORE_OPTIONS,
};

/**
 * An outbox in memory, in place of a `PostgresOutbox` or `MySqlOutbox` in a test: with the same options but for the
 * pool, and the same methods. All messages are lost with the process.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { silentLogger } from "@holdfast/controller";
 * import { MemoryOutbox, RecordingPublisher } from "@holdfast/outbox/testing";
 *
 * const clock = new FakeClock();
 * const publisher = new RecordingPublisher({ clock });
 * const outbox = new MemoryOutbox({ name: "shop", publisher, clock, logger: silentLogger });
 * const stop = new AbortController();
 * const running = outbox.run(stop.signal);
 * const message = { topic: "orders.paid", key: "order/4711", payload: {} };
 * await outbox.transaction((tx) => outbox.save(tx, message));
 * await clock.step(10);
 * console.log(publisher.attempts.length, await outbox.backlog()); // => 1 { pending: 0, retrying: 0, dead: 0 }
 * stop.abort();
 * await clock.run(() => running);
 * ```
 */
export class MemoryOutbox extends OutboxService<MemoryTransaction> {
  /**
   * @param options - see {@link MemoryOutboxOptions}
   * @throws RangeError or TypeError that names the option
   */
  constructor(options: MemoryOutboxOptions) {
    const given = read("options", options, "MemoryOutbox", MEMORY_OUTBOX_OPTIONS);
    const { order, ...service } = given;
    const store = new MemoryStore({ order });
    super(service, {
      store,
      lock: new MemoryLock(),
      transaction: (work) => store.transaction(work),
      migrate: async () => [],
    });
  }
}
