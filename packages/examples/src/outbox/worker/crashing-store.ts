import type { OutboxStore } from "@holdfast/outbox";
import type { Reach } from "./crash-point.ts";

/** A store whose process may die before it writes an outcome, or right after. */
export function crashingStore<Tx>(store: OutboxStore<Tx>, reach: Reach): OutboxStore<Tx> {
  const crashing =
    <Args extends unknown[]>(mark: (...args: Args) => Promise<boolean>) =>
    async (...args: Args): Promise<boolean> => {
      reach("before-mark");
      const isDone = await mark(...args);
      reach("after-mark");
      return isDone;
    };
  const marks: Record<PropertyKey, unknown> = {
    markSuccess: crashing(store.markSuccess.bind(store)),
    markFail: crashing(store.markFail.bind(store)),
  };
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = marks[name] ?? Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
