import { onAbort } from "@holdfast/clock";
import { requireFunction } from "@holdfast/clock/internal";
import type { EnqueueOptions, Source } from "./source.ts";

/**
 * A source of what calls back: an event emitter, a file watcher, a subscription.
 *
 * @param name - see {@link Source.name}
 * @param subscribe - called at the start with the function to call for each event. What it returns, if
 * it is a function, is called at the end
 * @returns the source; if `subscribe` or what it returns throws, that is an error of the source
 * @throws TypeError if `subscribe` is no function
 *
 * @example
 * ```ts
 * import { EventEmitter } from "node:events";
 * import { fromCallback } from "@holdfast/controller";
 *
 * const orders = new EventEmitter();
 * const source = fromCallback<string>("orders", (enqueue) => {
 *   const changed = (id: string) => enqueue(id);
 *   orders.on("changed", changed);
 *   return () => orders.off("changed", changed);
 * });
 * console.log(source.name); // => orders
 * ```
 */
export function fromCallback<Event = string>(
  name: string,
  subscribe: (enqueue: (event: Event, options?: EnqueueOptions) => void) => unknown,
): Source<Event> {
  requireFunction("subscribe", subscribe);
  return {
    name,
    start({ enqueue, failed }, signal) {
      const unsubscribe = subscribe(enqueue);
      if (typeof unsubscribe !== "function") return;
      onAbort(signal, () => {
        try {
          unsubscribe();
        } catch (error) {
          failed(error);
        }
      });
    },
  };
}
