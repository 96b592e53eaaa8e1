import { realClock } from "@holdfast/clock";
import {
  requireAbove,
  requireArray,
  requireAtLeast,
  requireBetween,
  requireBoolean,
  requireClock,
  requireHooks,
  requireMethods,
  requirePositive,
  requireString,
  requireText,
} from "@holdfast/kit";
import { describe, expect, it } from "vitest";

// Checks that only other packages use; bad-input.test.ts covers the others.
const checks = {
  requireAbove,
  requireArray,
  requireAtLeast,
  requireBetween,
  requireBoolean,
  requireClock,
  requireHooks,
  requireMethods,
  requirePositive,
  requireString,
  requireText,
};

interface Case {
  readonly check: keyof typeof checks;
  readonly args: readonly unknown[];
}

interface Refused extends Case {
  readonly error: RangeError | TypeError;
}

interface Accepted extends Case {
  readonly returns: unknown;
}

const { POSITIVE_INFINITY, NaN: NOT_A_NUMBER } = Number;
const half = { go() {}, stop: true };

describe("an argument", () => {
  it.each<Refused>([
    {
      check: "requireAtLeast",
      args: ["2", 1],
      error: new TypeError('it must be a finite number of at least 1, got "2"'),
    },
    {
      check: "requireAtLeast",
      args: [0.5, 1],
      error: new RangeError("it must be a finite number of at least 1, got 0.5"),
    },
    {
      check: "requireAtLeast",
      args: [POSITIVE_INFINITY, 1],
      error: new RangeError("it must be a finite number of at least 1, got Infinity"),
    },
    {
      check: "requireAbove",
      args: [null, 1],
      error: new TypeError("it must be a number above 1, got null"),
    },
    {
      check: "requireAbove",
      args: ["2", 1],
      error: new TypeError('it must be a number above 1, got "2"'),
    },
    {
      check: "requireAbove",
      args: [1, 1],
      error: new RangeError("it must be a number above 1, got 1"),
    },
    {
      check: "requireAbove",
      args: [NOT_A_NUMBER, 1],
      error: new RangeError("it must be a number above 1, got NaN"),
    },
    {
      check: "requireArray",
      args: [{ length: 1 }],
      error: new TypeError("it must be an array, got [object Object]"),
    },
    {
      check: "requireBetween",
      args: [true, 0, 1],
      error: new TypeError("it must be a number from 0 to 1, got true"),
    },
    {
      check: "requireBetween",
      args: [-0.1, 0, 1],
      error: new RangeError("it must be a number from 0 to 1, got -0.1"),
    },
    {
      check: "requireBetween",
      args: [1.1, 0, 1],
      error: new RangeError("it must be a number from 0 to 1, got 1.1"),
    },
    {
      check: "requireBetween",
      args: [NOT_A_NUMBER, 0, 1],
      error: new RangeError("it must be a number from 0 to 1, got NaN"),
    },
    {
      check: "requireBoolean",
      args: [1],
      error: new TypeError("it must be true or false, got 1"),
    },
    {
      check: "requireMethods",
      args: [null, ["go"]],
      error: new TypeError("it must have a method go(), got null"),
    },
    {
      check: "requireMethods",
      args: [half, ["go", "stop"]],
      error: new TypeError("it must have a method stop(), got [object Object]"),
    },
    {
      check: "requireClock",
      args: [{ monotonic() {}, newTimer() {} }],
      error: new TypeError("it must have a method afterFunc(), got [object Object]"),
    },
    {
      check: "requireHooks",
      args: [{ go() {}, stop: null }],
      error: new TypeError("it.stop must be a function, got null"),
    },
    {
      check: "requirePositive",
      args: ["2"],
      error: new TypeError('it must be a finite number above 0, got "2"'),
    },
    {
      check: "requirePositive",
      args: [0],
      error: new RangeError("it must be a finite number above 0, got 0"),
    },
    {
      check: "requirePositive",
      args: [POSITIVE_INFINITY],
      error: new RangeError("it must be a finite number above 0, got Infinity"),
    },
    {
      check: "requireString",
      args: [null],
      error: new TypeError("it must be a string, got null"),
    },
    {
      check: "requireText",
      args: [1],
      error: new TypeError("it must be a string, got 1"),
    },
    {
      check: "requireText",
      args: [""],
      error: new RangeError('it must be a non-empty string, got ""'),
    },
  ])("$check refuses $args", ({ check, args, error }) => {
    expect(() => Reflect.apply(checks[check], undefined, ["it", ...args])).toThrow(error);
  });

  it.each<Accepted>([
    { check: "requireAtLeast", args: [1, 1], returns: 1 },
    { check: "requireAbove", args: [POSITIVE_INFINITY, 1], returns: POSITIVE_INFINITY },
    { check: "requireArray", args: [[]], returns: undefined },
    { check: "requireBetween", args: [0, 0, 1], returns: 0 },
    { check: "requireBetween", args: [1, 0, 1], returns: 1 },
    { check: "requireBoolean", args: [false], returns: undefined },
    { check: "requireMethods", args: [half, ["go"]], returns: undefined },
    { check: "requireMethods", args: [() => {}, ["call"]], returns: undefined },
    { check: "requireClock", args: [realClock], returns: undefined },
    { check: "requireHooks", args: [{ go() {}, stop: undefined }], returns: undefined },
    { check: "requirePositive", args: [Number.MIN_VALUE], returns: Number.MIN_VALUE },
    { check: "requireString", args: [""], returns: undefined },
    { check: "requireText", args: [" "], returns: undefined },
  ])("$check accepts $args", ({ check, args, returns }) => {
    expect(Reflect.apply(checks[check], undefined, ["it", ...args])).toBe(returns);
  });
});
