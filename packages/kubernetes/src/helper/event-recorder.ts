import { findError, onAbort } from "@holdfast/clock";
import {
  Controller,
  type Logger,
  type ReconcileRequest,
  type ReconcileResult,
  type Runnable,
  type RunOptions,
} from "@holdfast/controller";
import {
  callSafely,
  RepeatedLines,
  requireOptions,
  requireText,
  requireWord,
  uuidFrom,
} from "@holdfast/kit";
import type { Random } from "@holdfast/wait";
import {
  ApiError,
  isApiError,
  isNotFound,
  isNotServed,
  withRetryAfter,
} from "../client/api-error.ts";
import { builtIn } from "../object/built-in.ts";
import type { DeepReadonly, KubeObject } from "../object/kube-object.ts";
import {
  cutBytes,
  cutNote,
  type EventObject,
  eventName,
  eventNamespace,
  eventOf,
  repetitionsOf,
} from "./event-object.ts";
import {
  type EventRecorderOptions,
  type ResolvedEventRecorderOptions,
  resolveEventRecorder,
} from "./event-recorder-options.ts";
import {
  type EventSeries,
  EventSeriesTable,
  type EventSubject,
  type Occurrence,
  seriesKey,
} from "./event-series.ts";

const Event = builtIn<EventObject>("events.k8s.io/v1", "Event");

/** How long events are sent after a stop, and how long aborted requests may take to end, in milliseconds. */
const FLUSH = { grace: 1_900, abortGrace: 100 };

/** Attempts to write a series after the first, as in client-go. */
const MAX_RETRIES = 12;

/** An event for {@link EventRecorder.record}. */
export interface EventDetails {
  /**
   * `"Warning"` for problems that a person should look at.
   *
   * @defaultValue `"Normal"`
   */
  readonly type?: "Normal" | "Warning" | undefined;

  /** Reason in one word, for example `QuotaExceeded`. Cut to 128 bytes. */
  readonly reason: string;

  /** Step that was taken or has failed, in one word, for example `CreateRecord`. Cut to 128 bytes. */
  readonly action: string;

  /** Text for people, without secrets. Cut to 1,024 bytes. */
  readonly note: string;
}

/**
 * Writes Events (`events.k8s.io/v1`) about objects, which `kubectl describe` shows.
 *
 * | Limit | |
 * | --- | --- |
 * | an event of the same object, type, reason and action within 6 minutes | is a repetition: only a count, written every 10 s at most. The note stays that of the first |
 * | 25 events of one object at once, then one in 5 minutes | others are dropped |
 * | 1,000 events that the server has not taken | others are dropped |
 * | a failed write | is retried 12 times, then dropped; an event that the server rejects is dropped at once. Failures are logged once a minute |
 * | a stop | all that is left is sent, for at most 2 s |
 *
 * Events are a courtesy for people: they may get lost, and the server removes them after an hour. Use the
 * status for facts. It needs the verbs `create` and `patch` on `events` of `events.k8s.io`. Events about objects
 * of cluster scope are in the namespace `default`.
 *
 * @remarks
 * Source: `EventRecorder` of k8s.io/client-go/tools/events; the limits are those of its correlator.
 *
 * @example
 * ```ts no-run
 * import { customResource, EventRecorder, inCluster, KubeClient } from "@holdfast/kubernetes";
 *
 * const Bucket = customResource({ apiVersion: "example.org/v1", kind: "Bucket", plural: "buckets" });
 * const client = new KubeClient({ transport: inCluster() });
 * const events = new EventRecorder({ client, controller: "buckets" });
 * const stop = new AbortController();
 * const running = events.run(stop.signal);
 *
 * const bucket = await client.get(Bucket, "default/photos");
 * events.record(bucket, { type: "Warning", reason: "QuotaExceeded", action: "Create", note: "no space is left" });
 * stop.abort();
 * await running;
 * ```
 */
export class EventRecorder implements Runnable {
  /** Name of the recorder, so that a `Manager` accepts it as a runnable. */
  readonly name: string;
  readonly #options: ResolvedEventRecorderOptions;
  readonly #salt: string;
  readonly #series = new EventSeriesTable();
  readonly #writer: Controller;
  readonly #lines: RepeatedLines;
  #isStopping = false;

  /**
   * @param options - see {@link EventRecorderOptions}
   * @throws RangeError or TypeError that names the option
   */
  constructor(options: EventRecorderOptions) {
    this.#options = resolveEventRecorder(options);
    const { name, clock, random } = this.#options;
    this.name = name;
    this.#salt = saltOf(random);
    this.#lines = new RepeatedLines(clock);
    this.#writer = new Controller({
      name,
      clock,
      random,
      logger: this.#logger,
      workers: 2,
      retries: MAX_RETRIES,
      ...FLUSH,
      reconcile: (request) => this.#write(request),
      onGiveUp: ({ key }) => this.#series.forget(key),
    });
  }

  /**
   * Records an event. It returns at once and never throws: an event that cannot be one is logged and dropped.
   *
   * @param object - the object that the event is about, as a client or an informer returned it
   * @param event - see {@link EventDetails}
   */
  record(object: DeepReadonly<KubeObject>, event: EventDetails): void {
    this.#record(() => occurrenceOf(object, event));
  }

  /**
   * As {@link EventRecorder.record}, but an event with another note is no repetition.
   *
   * @internal
   */
  recordText(object: DeepReadonly<KubeObject>, event: EventDetails): void {
    this.#record(() => ({ ...occurrenceOf(object, event), isText: true }));
  }

  #record(make: () => Occurrence): void {
    const { clock } = this.#options;
    try {
      const occurrence = make();
      const now = { wall: clock.now(), monotonic: clock.monotonic() };
      const effect = this.#series.record(occurrence, now);
      // The write of a pending series has its time: after its interval, or after the delay of a retry.
      if (effect === "pending") return;
      if (effect === "begun" || effect === "counted")
        this.#writer.add(seriesKey(occurrence), { reason: "record" });
      else this.#log("debug", { reason: occurrence.reason, effect }, "event dropped");
    } catch (err) {
      this.#logFailure("warn", { err }, "invalid event dropped");
    }
  }

  /**
   * Writes events until `signal` aborts, then those that are left, for at most 2 s. Events recorded before are
   * written too; events recorded later are dropped. A recorder runs once.
   *
   * @param signal - stops the recorder
   * @param options - those of a controller's `run`
   */
  async run(signal: AbortSignal, options?: RunOptions): Promise<void> {
    const stop = new AbortController();
    const subscription = onAbort(signal, (reason) => {
      this.#isStopping = true;
      // Before the queue closes: repetitions that wait for their interval are written now.
      for (const key of this.#series.pending) this.#writer.add(key, { reason: "flush" });
      stop.abort(reason);
    });
    try {
      await this.#writer.run(stop.signal, options);
    } finally {
      subscription[Symbol.dispose]();
    }
  }

  async #write({ key, signal }: ReconcileRequest): Promise<ReconcileResult> {
    const { clock } = this.#options;
    const step = this.#series.next(key, clock.monotonic(), this.#isStopping);
    if (step.type === "none") return;
    if (step.type === "wait") return { requeueAfter: step.delay };
    const { series } = step;
    const { count } = series;
    try {
      if (step.type === "create") await this.#create(series, signal);
      else await this.#patch(series, signal);
    } catch (error) {
      if (step.type === "patch" && isNotFound(error)) {
        this.#series.restart(key, series);
        return { requeueAfter: 0 };
      }
      if (!isRefused(error)) throw withRetryAfter(error);
      this.#series.forget(key);
      this.#logFailure("error", { err: error }, "event dropped; the server rejected it");
      return;
    }
    series.written = count;
    series.writtenAt = clock.monotonic();
    return series.count > count ? { requeueAfter: 0 } : undefined;
  }

  async #create(series: EventSeries, signal: AbortSignal): Promise<void> {
    const { client, controller, instance } = this.#options;
    const event = eventOf(series, this.#nameOf(series), { controller, instance });
    try {
      await client.create(Event, event, { signal, retries: 0 });
    } catch (error) {
      // The response to an earlier attempt was lost.
      if (!isApiError(error, "AlreadyExists")) throw error;
    }
  }

  async #patch(series: EventSeries, signal: AbortSignal): Promise<void> {
    const ref = {
      namespace: eventNamespace(series.occurrence.regarding),
      name: this.#nameOf(series),
    };
    const options = { signal, retries: 0 };
    await this.#options.client.patch(Event, ref, { series: repetitionsOf(series) }, options);
  }

  /** The same for every write of a series, another for every series of any process. */
  #nameOf({ occurrence, firstAt, number }: EventSeries): string {
    const time = Math.floor(firstAt).toString(16);
    return eventName(occurrence.regarding.name, `${time}.${this.#salt}${number.toString(16)}`);
  }

  /** The logger of the writer. */
  get #logger(): Logger {
    return {
      debug: (details, message) => this.#log("debug", details, message),
      info: (details, message) => this.#log("info", details, message),
      warn: (details, message) => this.#logFailure("warn", details, message),
      error: (details, message) => this.#logFailure("error", details, message),
    };
  }

  /** One line a minute for all events that fail: without a right, or a server, each of them does. */
  #logFailure(level: "warn" | "error", details: { err?: unknown }, message: string): void {
    const more = this.#lines.detailsOf(message, causeOf(details.err));
    if (more !== undefined) this.#log(level, { ...details, ...more }, message);
  }

  #log(level: keyof Logger, details: object, message: string): void {
    callSafely(() => this.#options.logger[level](details, message));
  }
}

/** Six hexadecimal digits: events of two processes about one object have different names. */
function saltOf(random: Random | undefined): string {
  if (random === undefined) return uuidFrom(random).slice(0, 6);
  return Math.floor(random() * 2 ** 24)
    .toString(16)
    .padStart(6, "0");
}

function occurrenceOf(object: DeepReadonly<KubeObject>, event: EventDetails): Occurrence {
  requireOptions("event", event);
  const { type = "Normal", reason, action, note } = event;
  requireWord("event.type", type, "Normal", "Warning");
  requireText("event.reason", reason);
  requireText("event.action", action);
  return {
    regarding: subjectOf(object),
    type,
    reason: cutBytes(reason, 128),
    action: cutBytes(action, 128),
    note: cutNote(String(note)),
  };
}

function subjectOf({ apiVersion, kind, metadata }: DeepReadonly<KubeObject>): EventSubject {
  requireText("object.apiVersion", apiVersion as string);
  requireText("object.kind", kind as string);
  requireText("object.metadata.name", metadata?.name as string);
  const { name, namespace, uid } = metadata as { name: string; namespace?: string; uid?: string };
  return {
    apiVersion: apiVersion as string,
    kind: kind as string,
    name,
    ...(namespace !== undefined && namespace !== "" && { namespace }),
    ...(uid !== undefined && { uid }),
  };
}

/** The reason of a failure. Its text names the event, and so differs for each. */
function causeOf(error: unknown): string {
  const found = findError(error, ApiError);
  if (found !== undefined) return found.reason || `HTTP ${found.status}`;
  return error instanceof Error ? error.name : typeof error;
}

/** Whether a repetition of the request would be refused too. */
function isRefused(error: unknown): boolean {
  // The client refuses a name or a namespace that is none.
  const found = findError(error, ApiError);
  if (found === undefined) return error instanceof RangeError;
  if (isNotServed(error)) return false;
  const { status } = found;
  return status >= 400 && status < 500 && ![401, 408, 409, 429].includes(status);
}
