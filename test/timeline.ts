export type TimelineEvent = [at: number, event: unknown];

/** What happened, each with its milliseconds since the timeline began. */
export interface Timeline {
  readonly events: TimelineEvent[];
  note(event: unknown): void;
  /** Milliseconds since the timeline began. */
  elapsed(): number;
  /** Notes how a promise ends: `"resolved"`, or `["rejected", reason]`. */
  noteEnd(promise: Promise<unknown>): Promise<void>;
}

export function timelineOf(clock: { monotonic(): number }): Timeline {
  const start = clock.monotonic();
  const events: TimelineEvent[] = [];
  const elapsed = (): number => clock.monotonic() - start;
  const note = (event: unknown): void => {
    events.push([elapsed(), event]);
  };
  return {
    events,
    note,
    elapsed,
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
