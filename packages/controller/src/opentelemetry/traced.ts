import { type PassiveClock, realClock } from "@holdfast/clock";
import {
  anything,
  callSafely,
  type Kinds,
  messageOf,
  methods,
  RepeatedLines,
  read,
  required,
  requireFunction,
} from "@holdfast/kit";
import { type Attributes, diag, type Span, SpanStatusCode, type Tracer } from "@opentelemetry/api";

export const TRACED_OPTIONS: Kinds<TracedOptions> = {
  tracer: required(methods("startActiveSpan")),
  name: anything,
  attributes: anything,
  clock: methods("monotonic"),
};

/** The request of a traced reconcile function. */
export interface TracedRequest {
  /** The key to reconcile. */
  readonly key: string;

  /** Number of the attempt, counted from 1. */
  readonly attempt: number;

  /** Why the key is reconciled. */
  readonly reason: string;

  /** Aborts when the work should stop. */
  readonly signal: AbortSignal;
}

/** Options for {@link traced}. */
export interface TracedOptions {
  /** Tracer of the spans: `trace.getTracer("my-service")`. */
  readonly tracer: Tracer;

  /**
   * Name of each span. The key is an attribute, because spans are grouped by their names.
   *
   * @defaultValue `"reconcile"`
   */
  readonly name?: string | undefined;

  /**
   * Attributes of each span, beside those of the request.
   *
   * @defaultValue none
   */
  readonly attributes?: Attributes | undefined;

  /**
   * Clock of the minute in which an error of the tracer is reported once.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: PassiveClock | undefined;
}

/**
 * Wraps each call of a reconcile function in an OpenTelemetry span. Spans that start inside, of an HTTP
 * client for example, are its children.
 *
 * | Attribute | |
 * | --- | --- |
 * | `reconcile.key` | the key |
 * | `reconcile.attempt` | counted from 1 |
 * | `reconcile.reason` | why it is reconciled |
 * | `reconcile.requeue_after_ms` | if the result asks for another run: after how long |
 * | `reconcile.aborted` | true if the signal had aborted when it ended |
 *
 * An error is recorded as an exception, sets the status of the span to error, and is rethrown
 * unchanged. The span ends with the call.
 *
 * The function is called once, and its outcome is its own, also if a tracer, a span or a processor throws: such an
 * error goes to `diag.error` of OpenTelemetry, once a minute.
 *
 * @typeParam Result - return type of the function
 * @param reconcile - the function
 * @param options - see {@link TracedOptions}
 * @returns a function that does the same, and is traced
 * @throws TypeError if an argument is of the wrong type
 *
 * @example
 * ```ts
 * import { InMemorySpanExporter, BasicTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
 * import { traced } from "@holdfast/controller/opentelemetry";
 *
 * const exporter = new InMemorySpanExporter();
 * const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
 *
 * const reconcile = traced(({ key }) => console.log("reconciling", key), {
 *   tracer: provider.getTracer("orders"),
 * });
 *
 * const { signal } = new AbortController();
 * await reconcile({ key: "north/7", attempt: 1, reason: "changed", signal }); // => reconciling north/7
 * const [span] = exporter.getFinishedSpans();
 * console.log(span?.name, span?.attributes["reconcile.key"]); // => reconcile north/7
 * ```
 */
export function traced<Request extends TracedRequest, Result>(
  reconcile: (request: Request) => Result | PromiseLike<Result>,
  options: TracedOptions,
): (request: Request) => Promise<Result> {
  requireFunction("reconcile", reconcile);
  const given = read("options", options, "traced", TRACED_OPTIONS);
  const { tracer, name = "reconcile", attributes, clock = realClock } = given;
  const quietly = quietlyOn(clock);
  return (request) => {
    const { key, attempt, reason } = request;
    const facts = {
      ...attributes,
      "reconcile.key": key,
      "reconcile.attempt": attempt,
      "reconcile.reason": reason,
    };
    let running: Promise<Result> | undefined;
    const run = (span?: Span): Promise<Result> => {
      running ??= reconcileInSpan(() => reconcile(request), request, { span, quietly });
      return running;
    };
    quietly(() => void tracer.startActiveSpan(name, { attributes: facts }, run));
    return run();
  };
}

/** Does work of telemetry, which must not decide an outcome. */
type Quietly = (work: () => void) => void;

function quietlyOn(clock: PassiveClock): Quietly {
  const lines = new RepeatedLines(clock);
  const report = (error: unknown): void => {
    const more = lines.detailsOf("tracer", messageOf(error));
    if (more !== undefined) diag.error("@holdfast/controller: tracing failed", error, more);
  };
  return (work) => callSafely(work, report);
}

async function reconcileInSpan<Result>(
  reconcile: () => Result | PromiseLike<Result>,
  request: TracedRequest,
  { span, quietly }: { readonly span: Span | undefined; readonly quietly: Quietly },
): Promise<Result> {
  try {
    const result = await reconcile();
    const after = requeueAfterOf(result);
    if (after !== undefined) quietly(() => span?.setAttribute("reconcile.requeue_after_ms", after));
    return result;
  } catch (error) {
    const message = messageOf(error);
    quietly(() => span?.recordException(error instanceof Error ? error : message));
    quietly(() => span?.setStatus({ code: SpanStatusCode.ERROR, message }));
    throw error;
  } finally {
    if (request.signal.aborted) quietly(() => span?.setAttribute("reconcile.aborted", true));
    quietly(() => span?.end());
  }
}

function requeueAfterOf(result: unknown): number | undefined {
  const after = (result as { requeueAfter?: unknown } | undefined | null)?.requeueAfter;
  return typeof after === "number" ? after : undefined;
}
