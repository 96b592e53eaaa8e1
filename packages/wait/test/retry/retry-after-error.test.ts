import { isRetryAfterError, RetryAfterError, TimeoutError } from "@holdfast/wait";
import { expect, it } from "vitest";

it("carries delay, message, cause and code", () => {
  const cause = new Error("429");
  const error = new RetryAfterError(30_000, { cause });
  expect(String(error)).toBe("RetryAfterError: retry after 30000 ms");
  expect(error.code).toBe("ERR_WAIT_RETRY_AFTER");
  expect(error.after).toBe(30_000);
  expect(error.cause).toBe(cause);
  expect(new RetryAfterError(1, { message: "HTTP 429" }).message).toBe("HTTP 429");
  expect(Object.hasOwn(new RetryAfterError(1), "cause")).toBe(false);
});

it("treats a delay below 0 as 0", () => {
  expect(new RetryAfterError(-1).after).toBe(0);
});

const error = new RetryAfterError(5);
const throwing = Object.defineProperty({ code: "ERR_WAIT_RETRY_AFTER" }, "after", {
  get() {
    throw new Error("cannot be read");
  },
});

it.each([
  ["one", error, 5, true],
  ["one that names 0", new RetryAfterError(0), 0, true],
  ["one that names Infinity", new RetryAfterError(Number.POSITIVE_INFINITY), Infinity, true],
  ["an error caused by one", new Error("busy", { cause: error }), 5, true],
  ["the outer one of two", new RetryAfterError(7, { cause: error }), 7, true],
  ["a timeout after one: another attempt", new TimeoutError(1, { cause: error }), undefined, false],
  [
    "one of another copy without a number",
    { code: "ERR_WAIT_RETRY_AFTER", after: "5" },
    undefined,
    true,
  ],
  [
    "one of another copy with NaN",
    { code: "ERR_WAIT_RETRY_AFTER", after: Number.NaN },
    undefined,
    true,
  ],
  ["one whose delay cannot be read", throwing, undefined, true],
  ["any other error", new Error("429"), undefined, false],
  ["undefined", undefined, undefined, false],
])("is recognised by its code, also among causes: %s", (_name, value, delay, expected) => {
  expect(isRetryAfterError(value)).toBe(expected);
  expect(RetryAfterError.delayOf(value)).toBe(delay);
});
