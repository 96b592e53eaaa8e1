import { isTimeoutError, TimeoutError } from "@holdfast/wait";
import { ExhaustedError, isExhaustedError } from "@holdfast/wait/go";
import { ExcessiveCollisionsError, isExcessiveCollisionsError } from "@holdfast/wait/strategies";
import { expect, it } from "vitest";

// What all errors have in common is in tools/test/errors.test.ts, the search among causes in terminal-error.test.ts.

const cause = new Error("refused");

it.each([
  {
    error: new ExhaustedError(4, { cause }),
    facts: { name: "ExhaustedError", code: "ERR_WAIT_EXHAUSTED", attempts: 4 },
    text: "still false after 4 attempts",
  },
  {
    error: new TimeoutError(5000, { cause }),
    facts: { name: "TimeoutError", code: "ERR_WAIT_TIMEOUT", timeout: 5000 },
    text: "timed out after 5000 ms",
  },
  {
    error: Object.assign(new ExcessiveCollisionsError(16), { cause }),
    facts: {
      name: "ExcessiveCollisionsError",
      code: "ERR_WAIT_EXCESSIVE_COLLISIONS",
      attempts: 16,
      cause,
    },
    text: "all 16 attempts collided",
  },
])("$facts.name has a name, a code, a message, its facts and a cause", ({ error, facts, text }) => {
  expect(error).toBeInstanceOf(Error);
  expect({ ...error }).toEqual(facts);
  expect(String(error)).toBe(`${facts.name}: ${text}`);
  expect(error.cause).toBe(cause);
});

it.each([ExhaustedError, TimeoutError])(
  "$name has no cause by default, and accepts undefined",
  (Class) => {
    expect("cause" in new Class(1)).toBe(false);
    expect("cause" in new Class(1, { cause: undefined })).toBe(true);
  },
);

it("is recognised by its own predicate alone", () => {
  const errors = [new TimeoutError(1), new ExhaustedError(1), new ExcessiveCollisionsError(1)];
  const predicates = [isTimeoutError, isExhaustedError, isExcessiveCollisionsError];
  expect(errors.map((error) => predicates.map((is) => is(error)))).toEqual([
    [true, false, false],
    [false, true, false],
    [false, false, true],
  ]);
  // The platform's error: the same name, and a number as its code.
  expect(isTimeoutError(new DOMException("timed out", "TimeoutError"))).toBe(false);
});
