import type { PassiveClock } from "@holdfast/clock";

/** What happened, each with its milliseconds since the timeline began. */
export interface Timeline {
  readonly events: [at: number, event: unknown][];
  note(event: unknown): void;
}

export function timelineOf(clock: PassiveClock): Timeline {
  const start = clock.monotonic();
  const events: Timeline["events"] = [];
  return { events, note: (event) => events.push([clock.monotonic() - start, event]) };
}
