import { TimeoutError } from "@holdfast/wait";
import { ExhaustedError, isExhaustedError } from "@holdfast/wait/go";
import { expect, it } from "vitest";

it("has name, code, message, attempts and cause", () => {
  const cause = new Error("refused");
  const error = new ExhaustedError(4, { cause });
  expect(error).toBeInstanceOf(Error);
  expect({ ...error, message: error.message }).toEqual({
    name: "ExhaustedError",
    code: "ERR_WAIT_EXHAUSTED",
    attempts: 4,
    message: "still false after 4 attempts",
  });
  expect(error.cause).toBe(cause);
  expect(String(error)).toBe("ExhaustedError: still false after 4 attempts");
});

it("has no cause by default, and accepts undefined as a cause", () => {
  expect("cause" in new ExhaustedError(1)).toBe(false);
  expect("cause" in new ExhaustedError(1, { cause: undefined })).toBe(true);
});

it.each([
  { value: new ExhaustedError(1), is: true },
  // An error of another copy of this package.
  { value: Object.assign(new Error("x"), { code: "ERR_WAIT_EXHAUSTED" }), is: true },
  // An error that was cloned to another thread.
  { value: { code: "ERR_WAIT_EXHAUSTED" }, is: true },
  { value: new Error("x", { cause: new ExhaustedError(1) }), is: true },
  { value: new TimeoutError(1), is: false },
  // The error of an earlier attempt.
  { value: new TimeoutError(1, { cause: new ExhaustedError(1) }), is: false },
  { value: new Error("still false after 4 attempts"), is: false },
  { value: undefined, is: false },
  { value: null, is: false },
  { value: "ERR_WAIT_EXHAUSTED", is: false },
])("is recognised by its code: $value", ({ value, is }) => {
  expect(isExhaustedError(value)).toBe(is);
});
