import { onAbort } from "@holdfast/clock";
import { requireFunction } from "@holdfast/kit";
import type { EnqueueOptions, Source } from "./source.ts";

/**
 * A source of callbacks: an event emitter, a file watcher, a subscription.
 *
 * Both functions may be async. An abort ends the source at once, without waiting for the function that
 * unsubscribes. That function is called even if `subscribe` resolves after the abort.
 *
 * @param name - see {@link Source.name}
 * @param subscribe - called at each start with the function to call for each event. It may return, or
 * resolve to, the function that unsubscribes. What it enqueues until then counts as the list of all that exists, see
 * `listed` of {@link SourceContext}
 * @returns the source. An error of either function is an error of the source
 * @throws TypeError if `subscribe` is not a function
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
    start({ enqueue, failed, listed }, signal) {
      return new Promise<void>((resolve, reject) => {
        const unsubscribe = subscribe(enqueue);
        const subscribed = Promise.resolve(unsubscribe);
        const subscription = onAbort(signal, () => {
          resolve();
          // At once if possible: this source ignores later callbacks.
          const ended = new Promise((done) =>
            done(typeof unsubscribe === "function" ? unsubscribe() : subscribed.then(end)),
          );
          ended.catch(failed);
        });
        // What comes later is a change: also by a function that replaced the one of an earlier start.
        subscribed.then(listed, (error: unknown) => {
          subscription[Symbol.dispose]();
          reject(error);
        });
      });
    },
  };
}

function end(unsubscribe: unknown): unknown {
  return typeof unsubscribe === "function" ? unsubscribe() : undefined;
}
