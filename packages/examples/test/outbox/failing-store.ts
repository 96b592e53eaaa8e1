import type { MemoryTransaction } from "../../src/outbox/store/memory-transaction.ts";
import type { OutboxStore } from "../../src/outbox/store/outbox-store.ts";

/** What may happen to a request: it may throw, or wait, before the store gets it and after it answers. */
export interface Faults {
  readonly before?: (request: string) => Promise<void> | void;
  readonly after?: (request: string) => Promise<void> | void;
  /** Is told what the store itself refuses. */
  readonly failed?: (request: string, error: unknown) => unknown;
}

/** A store behind a connection that fails as a test says. */
export function failingStore(
  store: OutboxStore<MemoryTransaction>,
  { before, after, failed }: Faults,
): OutboxStore<MemoryTransaction> {
  return new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]) => {
        await before?.(String(name));
        const answer = await method.apply(target, args).catch((error: unknown) => {
          failed?.(String(name), error);
          throw error;
        });
        await after?.(String(name));
        return answer;
      };
    },
  });
}
