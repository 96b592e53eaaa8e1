import type { Clock } from "@holdfast/clock";
import type { AddOptions } from "../queue/add-options.ts";

/** When an event is to be looked at, before which others, and why. */
export interface EnqueueOptions extends AddOptions {
  /**
   * What `request.reason` will be.
   *
   * @defaultValue the name of the source
   */
  readonly reason?: string | undefined;
}

/** What a {@link Source} gets from who starts it. Its functions never throw. */
export interface SourceContext<Event> {
  /** Takes an event, and does nothing after the end. */
  readonly enqueue: (event: Event, options?: EnqueueOptions) => void;

  /** Takes an error that does not end the source. */
  readonly failed: (error: unknown) => void;

  /** The clock of the controller. */
  readonly clock: Clock;
}

/**
 * Tells a controller what has happened. Anything with these two members is one.
 *
 * | `start` | Then the source |
 * | --- | --- |
 * | returns nothing | runs until the controller stops |
 * | returns a promise that resolves | has ended |
 * | throws, or its promise rejects | is started again, after a back-off |
 *
 * Source: `TypedSource` of sigs.k8s.io/controller-runtime/pkg/source.
 */
export interface Source<Event = string> {
  /** Appears in the status, in logs, and as the reason of what it enqueues. */
  readonly name: string;

  /**
   * Begins to enqueue.
   *
   * @param context - see {@link SourceContext}
   * @param signal - aborts when the controller stops, and when this start is over. What was opened is
   * to be closed then
   */
  start(context: SourceContext<Event>, signal: AbortSignal): unknown;
}
