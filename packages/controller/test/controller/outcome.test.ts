import {
  isRetryAfterError,
  isTerminalError,
  type Outcome,
  type OutcomeFacts,
  outcomeOf,
  type Result,
  RetryAfterError,
  type Settlement,
  TerminalError,
} from "@holdfast/controller";
import { describe, expect, it } from "vitest";

const FACTS: OutcomeFacts = { failures: 1, maxRetries: 3, aborted: undefined };
const INFINITY = Number.POSITIVE_INFINITY;
const broken = new Error("broken");
const terminal = new TerminalError("never");
const later = new RetryAfterError(500);
const wrapped = new Error("outer", { cause: terminal });
const several = new AggregateError([broken, terminal]);

const returned = (result: unknown): Settlement => ({ kind: "returned", result: result as Result });
const threw = (error: unknown): Settlement => ({ kind: "threw", error });
const retry = (error: unknown, delay?: number, label = "error"): object => ({
  kind: "retry",
  label,
  delay,
  error,
});

type Row = [name: string, settlement: Settlement, facts: Partial<OutcomeFacts>, outcome: object];

const rows: Row[] = [
  ["nothing", returned(undefined), {}, { kind: "forget", label: "success" }],
  ["null", returned(null), {}, { kind: "forget", label: "success" }],
  ["something else", returned("done"), {}, { kind: "forget", label: "success" }],
  [
    "nothing, though late",
    returned(undefined),
    { aborted: "timeout" },
    { kind: "forget", label: "success" },
  ],
  [
    "nothing, though told to stop",
    returned(undefined),
    { aborted: "stop" },
    { kind: "forget", label: "success" },
  ],
  [
    "requeueAfter",
    returned({ requeueAfter: 10 }),
    {},
    { kind: "requeueAfter", label: "requeue_after", delay: 10 },
  ],
  [
    "requeueAfter 0",
    returned({ requeueAfter: 0 }),
    {},
    { kind: "requeueAfter", label: "requeue_after", delay: 0 },
  ],
  [
    "requeueAfter below 0",
    returned({ requeueAfter: -1 }),
    {},
    { kind: "requeueAfter", label: "requeue_after", delay: 0 },
  ],
  [
    "requeueAfter Infinity",
    returned({ requeueAfter: INFINITY }),
    {},
    { kind: "forget", label: "requeue_after" },
  ],
  [
    "requeueAfter undefined",
    returned({ requeueAfter: undefined }),
    {},
    { kind: "forget", label: "success" },
  ],
  ["an error", threw(broken), {}, retry(broken)],
  ["undefined, thrown", threw(undefined), {}, retry(undefined)],
  ["an error, the last that may be retried", threw(broken), { failures: 3 }, retry(broken)],
  [
    "an error too many",
    threw(broken),
    { failures: 4 },
    { kind: "giveUp", label: "gave_up", error: broken },
  ],
  [
    "an error that may not be retried",
    threw(broken),
    { maxRetries: 0 },
    { kind: "giveUp", label: "gave_up", error: broken },
  ],
  [
    "an error after the timeout",
    threw(broken),
    { aborted: "timeout" },
    retry(broken, undefined, "timeout"),
  ],
  [
    "an error after the timeout too many",
    threw(broken),
    { aborted: "timeout", failures: 4 },
    { kind: "giveUp", label: "gave_up", error: broken },
  ],
  [
    "an error when told to stop",
    threw(broken),
    { aborted: "stop" },
    { kind: "interrupt", label: "interrupted" },
  ],
  [
    "an error too many when told to stop",
    threw(broken),
    { aborted: "stop", failures: 4 },
    { kind: "interrupt", label: "interrupted" },
  ],
  ["a terminal error", threw(terminal), {}, { kind: "drop", label: "terminal", error: terminal }],
  [
    "a terminal error too many",
    threw(terminal),
    { failures: 4 },
    { kind: "drop", label: "terminal", error: terminal },
  ],
  [
    "a terminal error when told to stop",
    threw(terminal),
    { aborted: "stop" },
    { kind: "drop", label: "terminal", error: terminal },
  ],
  ["a terminal error as a cause", threw(wrapped), {}, retry(wrapped)],
  ["a terminal error among several", threw(several), {}, retry(several)],
  ["a retry-after error", threw(later), {}, retry(later, 500)],
  [
    "a retry-after error after the timeout",
    threw(later),
    { aborted: "timeout" },
    retry(later, 500, "timeout"),
  ],
  [
    "a retry-after error too many",
    threw(later),
    { failures: 4 },
    { kind: "giveUp", label: "gave_up", error: later },
  ],
];

describe("what becomes of a key", () => {
  it.each(rows)("after %s", (_name, settlement, facts, outcome) => {
    expect(outcomeOf(settlement, { ...FACTS, ...facts })).toEqual(outcome as Outcome);
  });

  it.each([
    [Number.NaN, new RangeError("requeueAfter must be a number of milliseconds, got NaN")],
    ["10", new TypeError('requeueAfter must be a number of milliseconds, got "10"')],
    [null, new TypeError("requeueAfter must be a number of milliseconds, got null")],
  ])("after requeueAfter %s is that of an error", (requeueAfter, error) => {
    const outcome = outcomeOf(returned({ requeueAfter }), FACTS);
    expect(outcome).toEqual(retry(error));
    expect(outcomeOf(returned({ requeueAfter }), { ...FACTS, failures: 4 }).kind).toBe("giveUp");
  });
});

describe("what cannot be read", () => {
  const unreadable = (name: string, base: object = {}): object =>
    Object.defineProperty(base, name, {
      get() {
        throw broken;
      },
    });

  it("is a failure if it is returned", () => {
    const settlement = returned(unreadable("requeueAfter"));
    expect(outcomeOf(settlement, FACTS)).toEqual(retry(broken));
    expect(outcomeOf(settlement, { ...FACTS, failures: 4 }).kind).toBe("giveUp");
  });

  it("is a failure like any other if it is thrown", () => {
    const error = unreadable("code", new Error("odd"));
    expect([isTerminalError(error), isRetryAfterError(error)]).toEqual([false, false]);
    expect(outcomeOf(threw(error), FACTS)).toEqual(retry(error));
  });

  it.each([Number.NaN, "10", undefined])(
    "is the delay of a retry-after error that is %s: the limiter says when",
    (after) => {
      const error = Object.assign(new Error("odd"), { code: later.code, after });
      expect(outcomeOf(threw(error), FACTS)).toEqual(retry(error));
    },
  );

  it("is the delay of a retry-after error that throws: the limiter says when", () => {
    const error = unreadable("after", Object.assign(new Error("odd"), { code: later.code }));
    expect(outcomeOf(threw(error), FACTS)).toEqual(retry(error));
  });
});

describe("the errors of a reconciler", () => {
  it("are known by their codes, whatever copy of the package made them", () => {
    const copyOf = (code: string) => Object.assign(new Error("from another copy"), { code });
    expect(isTerminalError(copyOf("ERR_CONTROLLER_TERMINAL"))).toBe(true);
    expect(isRetryAfterError(copyOf("ERR_CONTROLLER_RETRY_AFTER"))).toBe(true);
    expect(isTerminalError(later)).toBe(false);
    expect(isRetryAfterError({ code: "ERR_CONTROLLER_RETRY_AFTER" })).toBe(false);
    expect(isTerminalError({ code: "ERR_CONTROLLER_TERMINAL" })).toBe(false);
  });

  it("keep their cause and their facts", () => {
    expect(new TerminalError("x", { cause: broken }).cause).toBe(broken);
    expect(new RetryAfterError(1, { cause: broken }).cause).toBe(broken);
    expect(new RetryAfterError(-5).after).toBe(0);
    expect(() => new RetryAfterError(Number.NaN)).toThrow(RangeError);
    expect(() => new RetryAfterError("1" as never)).toThrow(TypeError);
  });
});
