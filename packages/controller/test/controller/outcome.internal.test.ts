import {
  isRetryAfterError,
  isTerminalError,
  type ReconcileResult,
  RetryAfterError,
  TerminalError,
} from "@holdfast/controller";
import { describe, expect, it } from "vitest";
import {
  type AbortCause,
  limitRetries,
  outcomeOf,
  type RetryOutcome,
  type Settlement,
} from "../../src/reconcile/outcome.ts";

const INFINITY = Number.POSITIVE_INFINITY;
const broken = new Error("broken");
const terminal = new TerminalError("never");
const later = new RetryAfterError(500);
const wrapped = new Error("outer", { cause: terminal });
const several = new AggregateError([broken, terminal]);

const returned = (result: unknown): Settlement => ({
  kind: "returned",
  result: result as ReconcileResult,
});
const threw = (error: unknown): Settlement => ({ kind: "threw", error });
const retry = (error: unknown, delay?: number, label = "error"): object => ({
  kind: "retry",
  label,
  delay,
  error,
});

type Row = [name: string, settlement: Settlement, aborted: AbortCause, outcome: object];

const rows: Row[] = [
  ["nothing", returned(undefined), undefined, { kind: "forget", label: "success" }],
  ["null", returned(null), undefined, { kind: "forget", label: "success" }],
  [
    "nothing after the timeout",
    returned(undefined),
    "timeout",
    { kind: "forget", label: "success" },
  ],
  [
    "nothing, although aborted by the stop",
    returned(undefined),
    "stop",
    { kind: "forget", label: "success" },
  ],
  [
    "requeueAfter",
    returned({ requeueAfter: 10 }),
    undefined,
    { kind: "requeueAfter", label: "requeue_after", delay: 10 },
  ],
  [
    "requeueAfter 0",
    returned({ requeueAfter: 0 }),
    undefined,
    { kind: "requeueAfter", label: "requeue_after", delay: 0 },
  ],
  [
    "requeueAfter below 0",
    returned({ requeueAfter: -1 }),
    undefined,
    { kind: "requeueAfter", label: "requeue_after", delay: 0 },
  ],
  [
    "requeueAfter Infinity",
    returned({ requeueAfter: INFINITY }),
    undefined,
    { kind: "forget", label: "requeue_after" },
  ],
  [
    "requeueAfter undefined",
    returned({ requeueAfter: undefined }),
    undefined,
    { kind: "forget", label: "success" },
  ],
  ["an error", threw(broken), undefined, retry(broken)],
  ["undefined, thrown", threw(undefined), undefined, retry(undefined)],
  ["an error after the timeout", threw(broken), "timeout", retry(broken, undefined, "timeout")],
  [
    "an error when aborted by the stop",
    threw(broken),
    "stop",
    { kind: "interrupt", label: "interrupted" },
  ],
  [
    "a terminal error",
    threw(terminal),
    undefined,
    { kind: "drop", label: "terminal", error: terminal },
  ],
  [
    "a terminal error when aborted by the stop",
    threw(terminal),
    "stop",
    { kind: "drop", label: "terminal", error: terminal },
  ],
  [
    "an error caused by a terminal one",
    threw(wrapped),
    undefined,
    { kind: "drop", label: "terminal", error: wrapped },
  ],
  ["a terminal error among several", threw(several), undefined, retry(several)],
  ["a retry-after error", threw(later), undefined, retry(later, 500)],
  ["a retry-after error after the timeout", threw(later), "timeout", retry(later, 500, "timeout")],
];

describe("the outcome for a key", () => {
  it.each(rows)("after %s", (_name, settlement, aborted, outcome) => {
    expect(outcomeOf(settlement, aborted, "7")).toEqual(outcome);
  });

  it.each([
    [Number.NaN, new RangeError("requeueAfter must be a number of milliseconds, got NaN")],
    ["10", new TypeError('requeueAfter must be a number of milliseconds, got "10"')],
    [null, new TypeError("requeueAfter must be a number of milliseconds, got null")],
  ])("after requeueAfter %s is that of an error", (requeueAfter, error) => {
    const outcome = outcomeOf(returned({ requeueAfter }), undefined, "7");
    expect(outcome).toEqual(retry(error));
  });
});

describe("an unreadable value", () => {
  const unreadable = (name: string, base: object = {}): object =>
    Object.defineProperty(base, name, {
      get() {
        throw broken;
      },
    });

  it("is a failure if it is returned", () => {
    const settlement = returned(unreadable("requeueAfter"));
    expect(outcomeOf(settlement, undefined, "7")).toEqual(retry(broken));
  });

  it("is a failure like any other if it is thrown", () => {
    const error = unreadable("code", new Error("odd"));
    expect([isTerminalError(error), isRetryAfterError(error)]).toEqual([false, false]);
    expect(outcomeOf(threw(error), undefined, "7")).toEqual(retry(error));
  });

  it.each([Number.NaN, "10", undefined])(
    "as the delay of a RetryAfterError (%s) leaves the delay to the limiter",
    (after) => {
      const error = Object.assign(new Error("odd"), { code: later.code, after });
      expect(outcomeOf(threw(error), undefined, "7")).toEqual(retry(error));
    },
  );

  it("as a throwing delay of a RetryAfterError leaves the delay to the limiter", () => {
    const error = unreadable("after", Object.assign(new Error("odd"), { code: later.code }));
    expect(outcomeOf(threw(error), undefined, "7")).toEqual(retry(error));
  });
});

describe("the limit of retries", () => {
  const error = new Error("failed");
  const retried: RetryOutcome = { kind: "retry", label: "timeout", delay: 5, error };

  it.each([
    { failures: 3, retries: 3 },
    { failures: 1_000, retries: Number.POSITIVE_INFINITY },
  ])("retries failure $failures of $retries", ({ failures, retries }) => {
    expect(limitRetries(retried, failures, retries)).toBe(retried);
  });

  it.each([
    { failures: 4, retries: 3 },
    { failures: 1, retries: 0 },
  ])("gives up at failure $failures of $retries", ({ failures, retries }) => {
    expect(limitRetries(retried, failures, retries)).toEqual({
      kind: "giveUp",
      label: "gave_up",
      error,
    });
  });
});

describe("a result that is not one", () => {
  it.each<[unknown, string]>([
    [{ requeue: true }, "{ requeue }"],
    [{ requeueAfter: 5, requeue: true }, "{ requeueAfter, requeue }"],
    [{}, "{}"],
    ["done", "a string"],
    [true, "a boolean"],
    [5_000, "a number"],
    [["7"], "an array"],
    [{ a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 }, "{ a, b, c, d, e, … }"],
  ])("is an error that names the key: %j", (result, got) => {
    const outcome = outcomeOf(returned(result as never), undefined, "orders/7");
    const message = `the reconcile of key "orders/7" must return nothing or { requeueAfter }, got ${got}`;
    expect(outcome).toEqual(retry(new TypeError(message)));
  });

  it("does not include null", () => {
    const outcome = outcomeOf(returned(null as never), undefined, "7");
    expect(outcome).toEqual({ kind: "forget", label: "success" });
  });
});
