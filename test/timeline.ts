export type TimelineEvent = [at: number, event: unknown];

/** What happened, each with its milliseconds since the timeline began. */
export interface Timeline {
  readonly events: TimelineEvent[];
  note(event: unknown): void;
  /** Notes how a promise ends: `"resolved"`, or `["rejected", reason]`. */
  noteEnd(promise: Promise<unknown>): Promise<void>;
}

export function timelineOf(clock: { monotonic(): number }): Timeline {
  const start = clock.monotonic();
  const events: TimelineEvent[] = [];
  const note = (event: unknown): void => {
    events.push([clock.monotonic() - start, event]);
  };
  return {
    events,
    note,
    async noteEnd(promise) {
      try {
        await promise;
        note("resolved");
      } catch (reason) {
        note(["rejected", reason]);
      }
    },
  };
}
