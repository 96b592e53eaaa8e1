import { type TracedOptions, type TracedRequest, traced } from "@holdfast/controller/opentelemetry";
import { context, SpanStatusCode } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

function tracing() {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  return { tracer: provider.getTracer("test"), spans: () => exporter.getFinishedSpans() };
}

const { signal } = new AbortController();
const request: TracedRequest = { key: "a", attempt: 3, reason: "retry", signal };

describe("a traced reconcile", () => {
  beforeAll(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager()));
  afterAll(() => context.disable());

  it("is a span with the request and the outcome", async () => {
    const { tracer, spans } = tracing();
    const result = { requeueAfter: 1_500 };
    const seen: unknown[] = [];
    const reconcile = traced(
      (asked: TracedRequest) => {
        seen.push(asked);
        return result;
      },
      { tracer, name: "orders", attributes: { region: "north" } },
    );
    expect(await reconcile(request)).toBe(result);
    expect(seen).toEqual([request]);
    expect(spans().map(({ name, attributes, status }) => ({ name, attributes, status }))).toEqual([
      {
        name: "orders",
        attributes: {
          region: "north",
          "reconcile.key": "a",
          "reconcile.attempt": 3,
          "reconcile.reason": "retry",
          "reconcile.requeue_after_ms": 1_500,
        },
        status: { code: SpanStatusCode.UNSET },
      },
    ]);
  });

  it.each<{ what: string; result: unknown }>([
    { what: "nothing", result: undefined },
    { what: "null", result: null },
    { what: "a time that is none", result: { requeueAfter: "soon" } },
  ])("that returns $what requests no other run", async ({ result }) => {
    const { tracer, spans } = tracing();
    expect(await traced(() => result, { tracer })(request)).toBe(result);
    expect(Object.keys(spans()[0]?.attributes ?? {})).toEqual([
      "reconcile.key",
      "reconcile.attempt",
      "reconcile.reason",
    ]);
    expect(spans()[0]?.name).toBe("reconcile");
  });

  it.each<{ what: string; error: unknown; message: string }>([
    { what: "an error", error: new TypeError("boom"), message: "boom" },
    { what: "a text", error: "boom", message: "boom" },
    { what: "nothing", error: undefined, message: "undefined" },
    {
      what: "what has no text",
      error: Object.create(null),
      message: "an error without a readable message",
    },
  ])("that fails with $what records the error and rethrows it", async ({ error, message }) => {
    const { tracer, spans } = tracing();
    const fail = (): never => {
      throw error;
    };
    await expect(traced(fail, { tracer })(request)).rejects.toBe(error);
    await expect(traced(async () => fail(), { tracer })(request)).rejects.toBe(error);
    expect(spans()).toHaveLength(2);
    for (const { status, events, ended } of spans()) {
      expect(status).toEqual({ code: SpanStatusCode.ERROR, message });
      expect(
        events.map(({ name, attributes }) => [name, attributes?.["exception.message"]]),
      ).toEqual([["exception", message]]);
      expect(ended).toBe(true);
    }
  });

  it("is open until the work has ended", async () => {
    const { tracer, spans } = tracing();
    let finish = (): void => {};
    const work = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const call = traced(() => work, { tracer })(request);
    await Promise.resolve();
    expect(spans()).toHaveLength(0);
    finish();
    await call;
    expect(spans()).toHaveLength(1);
  });

  it("records the abort, and ends", async () => {
    const { tracer, spans } = tracing();
    const stop = new AbortController();
    const call = traced(
      async ({ signal: given }: TracedRequest) => {
        stop.abort(new Error("enough"));
        given.throwIfAborted();
      },
      { tracer },
    )({ ...request, signal: stop.signal });
    await expect(call).rejects.toBe(stop.signal.reason);
    expect(spans()[0]?.attributes["reconcile.aborted"]).toBe(true);
  });

  it("is the parent of the spans inside, each of its own, at the same time too", async () => {
    const { tracer, spans } = tracing();
    const reconcile = traced(
      async ({ key }: TracedRequest) => {
        await Promise.resolve();
        tracer.startSpan(`child of ${key}`).end();
      },
      { tracer },
    );
    await Promise.all(["a", "b"].map((key) => reconcile({ ...request, key })));
    const idOf = (name: string) =>
      spans()
        .find(({ attributes }) => attributes["reconcile.key"] === name)
        ?.spanContext().spanId;
    for (const key of ["a", "b"]) {
      const child = spans().find(({ name }) => name === `child of ${key}`);
      expect(child?.parentSpanContext?.spanId).toBe(idOf(key));
      expect(idOf(key)).toEqual(expect.any(String));
    }
  });

  it.each<{ args: readonly unknown[]; error: string }>([
    { args: [1, {}], error: "reconcile must be a function, got 1" },
    { args: [() => {}, null], error: "options must be an object, got null" },
    {
      args: [() => {}, { tracer: {} }],
      error: "options.tracer must have a method startActiveSpan(), got [object Object]",
    },
  ])("is refused: $error", ({ args, error }) => {
    expect(() => traced(...(args as [() => void, TracedOptions]))).toThrow(new TypeError(error));
  });
});

describe("telemetry that throws", () => {
  const boom = (): never => {
    throw new Error("exporter is broken");
  };
  const processor = {
    onStart() {},
    onEnd() {},
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const tracers: [string, () => TracedOptions["tracer"]][] = [
    [
      "in onStart of a processor",
      () =>
        new BasicTracerProvider({ spanProcessors: [{ ...processor, onStart: boom }] }).getTracer(
          "t",
        ),
    ],
    [
      "in onEnd of a processor",
      () =>
        new BasicTracerProvider({ spanProcessors: [{ ...processor, onEnd: boom }] }).getTracer("t"),
    ],
    ["in startActiveSpan", () => ({ startActiveSpan: boom, startSpan: boom }) as never],
    [
      "in each method of a span",
      () => {
        const span = new Proxy({}, { get: () => boom });
        const startActiveSpan = (_: string, __: object, run: (span: unknown) => unknown) =>
          run(span);
        return { startActiveSpan, startSpan: boom } as never;
      },
    ],
    [
      "in startActiveSpan after the call",
      () => {
        const startActiveSpan = (_: string, __: object, run: (span?: unknown) => unknown) => {
          run();
          boom();
        };
        return { startActiveSpan, startSpan: boom } as never;
      },
    ],
  ];

  it.each(tracers)("%s changes no outcome and calls the function once", async (_, tracer) => {
    let calls = 0;
    const succeeds = traced(() => ({ requeueAfter: ++calls }), { tracer: tracer() });
    expect(await succeeds(request)).toEqual({ requeueAfter: 1 });
    const error = new Error("failed");
    const fails = traced(
      () => {
        calls++;
        throw error;
      },
      { tracer: tracer() },
    );
    await expect(fails(request)).rejects.toBe(error);
    expect(calls).toBe(2);
  });
});
