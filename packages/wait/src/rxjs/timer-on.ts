import type { Clock } from "@holdfast/clock";
import { Observable } from "rxjs";

/**
 * Emits once, `delay` from its subscription or later, and completes. Never while it is subscribed
 * to, so that what follows a delay of 0 neither recurses nor keeps the event loop busy.
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
