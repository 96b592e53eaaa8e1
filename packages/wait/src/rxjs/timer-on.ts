import type { Clock } from "@holdfast/clock";
import { Observable } from "rxjs";

/**
 * Emits once, `delay` after its subscription, and completes. It never emits during the subscription,
 * so code that follows a delay of 0 neither recurses nor blocks the event loop.
 */
export function timerOn(clock: Clock, delay: number): Observable<void> {
  return new Observable((subscriber) => {
    const fire = () => {
      subscriber.next();
      subscriber.complete();
    };
    const timer = clock.afterFunc(delay, fire, { label: "backoff" });
    return () => timer.stop();
  });
}
