import type { Observer } from "rxjs";
import type { Timeline } from "../../../../test/timeline.ts";

/** An observer that notes each notification: a value, `"completed"`, or `["failed", error]`. */
export function noting({ note }: Timeline): Observer<unknown> {
  return {
    next: note,
    complete: () => note("completed"),
    error: (error) => note(["failed", error]),
  };
}
