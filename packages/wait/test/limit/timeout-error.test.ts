import { isTimeoutError, TimeoutError } from "@holdfast/wait";
import { ExhaustedError } from "@holdfast/wait/go";
import { expect, it } from "vitest";
import { unreadable } from "../stage.ts";

it("has name, code, message, timeout and cause", () => {
  const cause = new Error("refused");
  const error = new TimeoutError(5000, { cause });
  expect(error).toBeInstanceOf(Error);
  expect({ ...error, message: error.message }).toEqual({
    name: "TimeoutError",
    code: "ERR_WAIT_TIMEOUT",
    timeout: 5000,
    message: "timed out after 5000 ms",
  });
  expect(error.cause).toBe(cause);
  expect(String(error)).toBe("TimeoutError: timed out after 5000 ms");
});

it("has no cause by default, and accepts undefined as a cause", () => {
  expect("cause" in new TimeoutError(1)).toBe(false);
  expect("cause" in new TimeoutError(1, { cause: undefined })).toBe(true);
});

it.each([
  { value: new TimeoutError(1), is: true },
  // An error of another copy of this package.
  { value: Object.assign(new Error("x"), { code: "ERR_WAIT_TIMEOUT" }), is: true },
  // An error that was cloned to another thread.
  { value: { code: "ERR_WAIT_TIMEOUT" }, is: true },
  { value: new Error("x", { cause: new TimeoutError(1) }), is: true },
  { value: new ExhaustedError(1), is: false },
  // The platform's error: the same name, and a number as its code.
  { value: new DOMException("timed out", "TimeoutError"), is: false },
  { value: undefined, is: false },
  { value: null, is: false },
  { value: "ERR_WAIT_TIMEOUT", is: false },
])("is recognised by its code: $value", ({ value, is }) => {
  expect(isTimeoutError(value)).toBe(is);
});

it("is not an error that throws when read", () => {
  expect(isTimeoutError(unreadable())).toBe(false);
});
