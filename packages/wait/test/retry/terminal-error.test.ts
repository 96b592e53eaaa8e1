import { isTerminalError, TerminalError, TimeoutError } from "@holdfast/wait";
import { expect, it } from "vitest";

const CODE = "ERR_WAIT_TERMINAL";

it("carries message, cause and code", () => {
  const cause = new Error("404");
  const error = new TerminalError("no such page", { cause });
  expect(error).toBeInstanceOf(Error);
  expect(String(error)).toBe("TerminalError: no such page");
  expect(error.code).toBe(CODE);
  expect(error.cause).toBe(cause);
  expect(Object.hasOwn(new TerminalError("alone"), "cause")).toBe(false);
});

const terminal = new TerminalError("no");
const circular: { cause?: unknown } = new Error("circle");
circular.cause = new Error("and back", { cause: circular });
/** An error with so many causes between it and a TerminalError. */
const nested = (depth: number): unknown => {
  let error: unknown = terminal;
  for (let i = 0; i < depth; i++) error = { cause: error };
  return error;
};
const unreadable = new Proxy(new Error("proxy"), {
  get() {
    throw new Error("cannot be read");
  },
});

it.each([
  ["a TerminalError", terminal, true],
  [
    "a TerminalError of another copy of this package",
    Object.assign(new Error("x"), { code: CODE }),
    true,
  ],
  ["a TerminalError of another realm", { code: CODE }, true],
  ["an error caused by one", new Error("a", { cause: terminal }), true],
  [
    "an error with one three causes deep",
    new Error("a", { cause: { cause: { cause: terminal } } }),
    true,
  ],
  ["one a hundred causes deep", nested(100), true],
  ["one deeper than that", nested(101), false],
  ["a timeout after one: another attempt", new TimeoutError(1, { cause: terminal }), false],
  [
    "an error caused by such a timeout",
    new Error("a", { cause: new TimeoutError(1, { cause: terminal }) }),
    false,
  ],
  ["an AggregateError with one among its errors", new AggregateError([terminal]), false],
  ["any other error", new Error("404"), false],
  ["causes in a circle", circular, false],
  ["an error that cannot be read", unreadable, false],
  ["undefined", undefined, false],
  ["null", null, false],
  ["text", CODE, false],
])("is recognised by its code, also among causes: %s", (_name, value, expected) => {
  expect(isTerminalError(value)).toBe(expected);
});
