import type { Clock } from "@holdfast/clock";
import type { Random } from "@holdfast/wait";
import type { AddOptions } from "../queue/work-queue-options.ts";

/** Options for `SourceContext.enqueue`, and for `Controller.add`. */
export interface EnqueueOptions extends AddOptions {
  /**
   * Value of `request.reason`.
   *
   * @defaultValue the name of the source
   */
  readonly reason?: string | undefined;
}

/** The controller as a {@link Source} sees it. Its functions never throw. */
export interface SourceContext<Event> {
  /** Adds an item. Once this start is over it does nothing; the first such event is reported. */
  readonly enqueue: (event: Event, options?: EnqueueOptions) => void;

  /** Reports an error that does not end the source. */
  readonly failed: (error: unknown) => void;

  /** The clock of the controller. */
  readonly clock: Clock;

  /** The option `random` of the controller, for jitter; undefined if it has none. */
  readonly random?: Random | undefined;

  /**
   * Tells that all items that exist were enqueued, once per start: what follows are changes. A controller with shards starts
   * a source again when slots come, and passes only their items until then. Without the call it waits until nothing was
   * enqueued for a second.
   */
  readonly listed?: (() => void) | undefined;
}

/**
 * Reports changes to a controller. Any object with `name` and `start` is a source.
 *
 * | `start` | The source |
 * | --- | --- |
 * | returns nothing | runs until the controller stops |
 * | returns a promise that resolves | ends with it |
 * | throws, or its promise rejects | is restarted after a backoff |
 *
 * Source: `TypedSource` of sigs.k8s.io/controller-runtime/pkg/source.
 */
export interface Source<Event = string> {
  /** Name in the status and in log lines, and the default reason of its items. */
  readonly name: string;

  /**
   * Begins to enqueue.
   *
   * @param context - see {@link SourceContext}
   * @param signal - aborts when the controller stops, and when this start is over. Close open
   * resources then
   */
  start(context: SourceContext<Event>, signal: AbortSignal): unknown;

  /**
   * Resolves when the data of this source is complete, so that a reconcile may read it. The controller starts its
   * sources and its workers when all of its sources are ready. A rejection is reported; the controller asks again
   * after a backoff.
   *
   * Without it, the source is ready at once.
   *
   * Source: `TypedSyncingSource` of sigs.k8s.io/controller-runtime/pkg/source.
   *
   * @param signal - aborts when the controller stops
   */
  ready?(signal: AbortSignal): Promise<void>;
}
