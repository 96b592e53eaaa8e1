import type { OutboxStore } from "@holdfast/outbox";
import type { Reach } from "./crash-point.ts";

/** A store whose process may die before it writes an outcome, or right after. */
export function crashingStore<Tx>(store: OutboxStore<Tx>, reach: Reach): OutboxStore<Tx> {
  const write: OutboxStore<Tx>["write"] = async (outcomes) => {
    for (const _ of outcomes) reach("before-mark");
    const written = await store.write(outcomes);
    for (const _ of outcomes) reach("after-mark");
    return written;
  };
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = name === "write" ? write : Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
