import { FakeClock } from "@holdfast/clock/testing";
import { TimeoutError } from "@holdfast/wait";
import { ExhaustedError, isInterrupted } from "@holdfast/wait/go";
import { expect, it } from "vitest";
import { unreadable } from "../stage.ts";

const abort = AbortSignal.abort().reason as unknown;
const failure = new Error("refused");
const causedBy = (cause: unknown) => new Error("no leader", { cause });

it.each([
  { name: "a TimeoutError of this package", error: new TimeoutError(5000) },
  {
    name: "a TimeoutError of this package caused by a failure",
    error: new TimeoutError(1, { cause: failure }),
  },
  { name: "an ExhaustedError", error: new ExhaustedError(3) },
  {
    name: "a TimeoutError of another copy of this package",
    error: Object.assign(new Error("x"), { code: "ERR_WAIT_TIMEOUT" }),
  },
  { name: "an abort without a reason", error: abort },
  { name: "the TimeoutError of the platform", error: new DOMException("x", "TimeoutError") },
  {
    name: "the AbortError of Node",
    error: Object.assign(new Error("x"), { name: "AbortError", code: "ABORT_ERR" }),
  },
  { name: "an AbortError of another realm", error: { name: "AbortError" } },
  { name: "an abort behind an error", error: causedBy(abort) },
  { name: "a timeout behind two errors", error: causedBy(causedBy(new TimeoutError(1))) },
  { name: "exhaustion behind an error", error: causedBy(new ExhaustedError(1)) },
])("is true for $name", ({ error }) => {
  expect(isInterrupted(error)).toBe(true);
});

it.each([
  { name: "undefined", error: undefined },
  { name: "null", error: null },
  { name: "a string", error: "AbortError" },
  { name: "a failure", error: failure },
  { name: "a failure behind an error", error: causedBy(failure) },
  { name: "another DOMException", error: new DOMException("x", "DataError") },
  { name: "an error whose cause has another name", error: { inner: abort, message: "x" } },
  { name: "a custom reason", error: AbortSignal.abort("bye").reason as unknown },
  { name: "an AggregateError with an interruption", error: new AggregateError([abort, failure]) },
])("is false for $name", ({ error }) => {
  expect(isInterrupted(error)).toBe(false);
});

it("is false for an error that throws when read", () => {
  expect(isInterrupted(unreadable())).toBe(false);
  expect(isInterrupted(new Error("a", { cause: unreadable() }))).toBe(false);
});

it("ends on circular causes", () => {
  const first = new Error("first");
  first.cause = new Error("second", { cause: first });
  expect(isInterrupted(first)).toBe(false);
});

it("is true for the timeout of a clock", async () => {
  const clock = new FakeClock();
  const limit = clock.timeout(1000);
  await clock.step(1000);
  expect(isInterrupted(limit.reason)).toBe(true);
});
