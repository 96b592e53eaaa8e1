import { isTerminalError, permanent } from "@holdfast/wait";
import { expect, it } from "vitest";

it("carries the error that is permanent", () => {
  const cause = new Error("404");
  const error = permanent(cause);
  expect(error).toBeInstanceOf(Error);
  expect({ ...error, message: error.message }).toEqual({
    name: "TerminalError",
    code: "ERR_WAIT_PERMANENT",
    cause,
    message: "a permanent error, thrown where nothing retries",
  });
  expect(error.cause).toBe(cause);
});

it.each([
  { value: permanent(undefined), is: true },
  // As another copy of this package would make it.
  { value: Object.assign(new Error("x"), { code: "ERR_WAIT_PERMANENT" }), is: true },
  { value: { code: "ERR_WAIT_PERMANENT" }, is: false },
  { value: new Error("404"), is: false },
  { value: undefined, is: false },
  { value: null, is: false },
  { value: "ERR_WAIT_PERMANENT", is: false },
])("is told apart by its code: $value", ({ value, is }) => {
  expect(isTerminalError(value)).toBe(is);
});
