import { onAbort } from "@holdfast/clock";
import { requireMethods } from "@holdfast/clock/internal";
import type { Source } from "./source.ts";

/** What {@link fromObservable} needs of an observable; those of rxjs have it. */
export interface Subscribable<Event> {
  /** Begins to tell an observer. */
  subscribe(observer: {
    /** Takes an event. */
    next(event: Event): void;
    /** Takes the error that ended it. */
    error(error: unknown): void;
    /** Called when it has ended. */
    complete(): void;
  }): {
    /** Stops telling. */
    unsubscribe(): void;
  };
}

/**
 * A source of an observable, of rxjs or any other library: nothing of it is imported.
 *
 * It is subscribed to at each start. When it completes, the source has ended; after an error it is
 * subscribed to again, with a back-off.
 *
 * @param name - see {@link Source.name}
 * @param observable - what to subscribe to
 * @returns the source
 * @throws TypeError if `observable` has no `subscribe`
 *
 * @example
 * ```ts
 * import { fromObservable } from "@holdfast/controller";
 *
 * const source = fromObservable<string>("changes", {
 *   subscribe(observer) {
 *     observer.next("orders/1");
 *     return { unsubscribe: () => {} };
 *   },
 * });
 * console.log(source.name); // => changes
 * ```
 */
export function fromObservable<Event = string>(
  name: string,
  observable: Subscribable<Event>,
): Source<Event> {
  requireMethods("observable", observable, ["subscribe"]);
  return {
    name,
    start({ enqueue, failed }, signal) {
      return new Promise<void>((resolve, reject) => {
        const subscription = observable.subscribe({
          next: (event) => enqueue(event),
          error: reject,
          complete: resolve,
        });
        onAbort(signal, () => {
          resolve();
          try {
            subscription.unsubscribe();
          } catch (error) {
            failed(error);
          }
        });
      });
    },
  };
}
