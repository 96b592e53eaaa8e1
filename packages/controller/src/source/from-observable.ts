import { onAbort } from "@holdfast/clock";
import { requireMethods } from "@holdfast/kit";
import type { Source } from "./source.ts";

/** The part of an observable that {@link fromObservable} uses. Observables of rxjs satisfy it. */
export interface Subscribable<Event> {
  /** Begins to call the observer. */
  readonly subscribe: (observer: {
    /** Receives an event. */
    readonly next: (event: Event) => void;
    /** Receives the error that ended the observable. */
    readonly error: (error: unknown) => void;
    /** Called when the observable has completed. */
    readonly complete: () => void;
  }) => {
    /** Stops calling the observer. */
    unsubscribe(): void;
  };
}

/**
 * A source of an observable, of rxjs or any other library. No library is imported.
 *
 * The source subscribes at each start. It ends when the observable completes. After an error it
 * subscribes again, with a backoff.
 *
 * @param name - see {@link Source.name}
 * @param observable - the observable
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
): Source<Event>;
/**
 * The same, for an observable whose `subscribe` also accepts a function, as in rxjs. The function is never
 * passed; the compiler reads the type of the events from it.
 *
 * @param name - see {@link Source.name}
 * @param observable - the observable
 * @returns the source
 * @throws TypeError if `observable` has no `subscribe`
 */
export function fromObservable<Event>(
  name: string,
  observable: Subscribable<Event> & {
    readonly subscribe: (next: (event: Event) => void) => unknown;
  },
): Source<Event>;
export function fromObservable<Event>(
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
