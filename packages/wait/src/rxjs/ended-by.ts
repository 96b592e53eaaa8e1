import { onAbort } from "@holdfast/clock";
import { type MonoTypeOperatorFunction, Observable } from "rxjs";

/** Fails with the reason of `signal` at once when it aborts. */
export function endedBy<T>(signal: AbortSignal): MonoTypeOperatorFunction<T> {
  return (source) =>
    new Observable((subscriber) => {
      const subscription = onAbort(signal, (reason) => subscriber.error(reason));
      subscriber.add(() => subscription[Symbol.dispose]());
      if (!subscriber.closed) subscriber.add(source.subscribe(subscriber));
    });
}
