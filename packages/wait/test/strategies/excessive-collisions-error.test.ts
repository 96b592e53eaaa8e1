import { ExhaustedError } from "@holdfast/wait/go";
import { ExcessiveCollisionsError, isExcessiveCollisionsError } from "@holdfast/wait/strategies";
import { expect, it } from "vitest";

it("has name, code, message and attempts", () => {
  const error = new ExcessiveCollisionsError(16);
  expect(error).toBeInstanceOf(Error);
  expect({ ...error, message: error.message }).toEqual({
    name: "ExcessiveCollisionsError",
    code: "ERR_WAIT_EXCESSIVE_COLLISIONS",
    attempts: 16,
    message: "all 16 attempts collided",
  });
});

it.each([
  { value: new ExcessiveCollisionsError(1), is: true },
  // An error of another copy of this package.
  { value: Object.assign(new Error("x"), { code: "ERR_WAIT_EXCESSIVE_COLLISIONS" }), is: true },
  // An error that was cloned to another thread.
  { value: { code: "ERR_WAIT_EXCESSIVE_COLLISIONS" }, is: true },
  { value: new Error("x", { cause: new ExcessiveCollisionsError(1) }), is: true },
  { value: new ExhaustedError(1), is: false },
  { value: undefined, is: false },
  { value: null, is: false },
])("is recognised by its code: $value", ({ value, is }) => {
  expect(isExcessiveCollisionsError(value)).toBe(is);
});
